import { parseYamlValue, YAML_FILE_LIMITS } from "@oaas/foundation/yaml";
import { stringify } from "yaml";
import { UsageError } from "../exit-code.ts";
import { parseUrl, type Context, type Contexts } from "./context.ts";

/** Parses the contexts file. Its format is that of the earlier Rust CLI. */
export function parseContexts(text: string, file: string): Contexts {
  const invalid = (what: string): UsageError =>
    new UsageError(`${file} ${what}`, "fix the file, or delete it and log in again: oaas login");
  const read = parseYamlValue(text, { limits: YAML_FILE_LIMITS });
  if (!read.ok) throw invalid(`is not valid YAML: ${read.message}`);
  const content = read.value;
  if (!isRecord(content) || !isRecord(content["contexts"])) throw invalid('has no map "contexts"');
  const byName = new Map<string, Context>();
  for (const [name, entry] of Object.entries(content["contexts"])) {
    const pmUrl = isRecord(entry) ? entry["pm_url"] : undefined;
    if (!isRecord(entry) || typeof pmUrl !== "string") throw invalid(`has no pm_url in contexts.${name}`);
    const token = entry["token"];
    byName.set(name, {
      pmUrl: parseUrl(pmUrl, `contexts.${name}.pm_url of ${file}`),
      ...(typeof token === "string" ? { token } : {}),
    });
  }
  const current = content["current_context"];
  if (typeof current !== "string" || !byName.has(current))
    throw invalid(`has no context called "${String(current)}" (current_context)`);
  return { current, byName };
}

export function contextsText({ current, byName }: Contexts): string {
  const contexts = Object.fromEntries(
    [...byName].map(([name, { pmUrl, token }]) => [name, { pm_url: pmUrl, ...(token === undefined ? {} : { token }) }]),
  );
  return stringify({ current_context: current, contexts });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
