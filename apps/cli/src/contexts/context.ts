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

/** An address as it is given: with its scheme, without the path that the contract's own begin with, and the last slash. */
export function urlOf(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what}: "${text}" is no address`, "write it like http://127.0.0.1:8080");
  }
  return url.href.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}
