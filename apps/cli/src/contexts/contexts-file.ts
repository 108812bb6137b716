import { parseDocument, stringify } from "yaml";
import { UsageError } from "../exit-code.ts";

/** One platform that the command line knows. */
export interface Context {
  readonly pmUrl: string;
  readonly token?: string;
}

export interface Contexts {
  readonly current: string;
  readonly byName: ReadonlyMap<string, Context>;
}

/** What a command line that was never told anything uses: the local stack. */
export const LOCAL: Contexts = { current: "local", byName: new Map([["local", { pmUrl: "http://127.0.0.1:8080" }]]) };

/** Reads the file of contexts. Fields of the earlier command line (pm_url, current_context) are its own: the file of old works. */
export function parseContexts(text: string, file: string): Contexts {
  const document = parseDocument(text);
  const [mistake] = document.errors;
  const refuse = (what: string): UsageError =>
    new UsageError(`${file} ${what}`, "mend it, or remove it and log in again with: oaas login");
  if (mistake) throw refuse(`is not valid YAML: ${mistake.message.split("\n")[0] ?? ""}`);
  const content = document.toJS() as unknown;
  if (!isRecord(content) || !isRecord(content["contexts"])) throw refuse('has no map "contexts"');
  const byName = new Map<string, Context>();
  for (const [name, given] of Object.entries(content["contexts"])) {
    const pmUrl = isRecord(given) ? given["pm_url"] : undefined;
    if (!isRecord(given) || typeof pmUrl !== "string") throw refuse(`names no pm_url in contexts.${name}`);
    const token = given["token"];
    byName.set(name, {
      pmUrl: urlOf(pmUrl, `contexts.${name}.pm_url of ${file}`),
      ...(typeof token === "string" ? { token } : {}),
    });
  }
  const current = content["current_context"];
  if (typeof current !== "string" || !byName.has(current))
    throw refuse(`has no context called "${String(current)}" (current_context)`);
  return { current, byName };
}

export function contextsText({ current, byName }: Contexts): string {
  const contexts = Object.fromEntries(
    [...byName].map(([name, { pmUrl, token }]) => [name, { pm_url: pmUrl, ...(token === undefined ? {} : { token }) }]),
  );
  return stringify({ current_context: current, contexts });
}

/** An address as it is given: with its scheme, without a path's last slash. */
export function urlOf(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what} is no address: "${text}"`, "write it like http://127.0.0.1:8080");
  }
  return url.href.replace(/\/+$/, "");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
