import { UsageError } from "../exit-code.ts";

/** A saved package manager. */
export interface Context {
  readonly pmUrl: string;
  readonly token?: string;
}

export interface Contexts {
  readonly current: string;
  readonly byName: ReadonlyMap<string, Context>;
}

/** The default without a contexts file: the local stack. */
export const DEFAULT_CONTEXTS: Contexts = {
  current: "local",
  byName: new Map([["local", { pmUrl: "http://127.0.0.1:8080" }]]),
};

/** Normalizes an address: requires http or https, and strips trailing slashes and `/api/v1`. */
export function parseUrl(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what}: "${text}" is not an http or https URL`, "use a URL such as http://127.0.0.1:8080");
  }
  return url.href.replace(/(?<!\/)\/+$/, "").replace(/\/api\/v1$/, "");
}
