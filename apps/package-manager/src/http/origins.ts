import { HEADERS } from "@oaas/contracts/rest";
import { headerOf, type Exchange } from "./exchange.ts";

const EXPOSED = Object.values(HEADERS).join(", ");
const TAKEN = [...Object.values(HEADERS), "authorization", "content-type"].join(", ");

/** Whether a page of the request's origin may read the answer. */
export function isAllowedOrigin(request: Exchange, origins: readonly string[]): boolean {
  const origin = headerOf(request, "origin");
  return origin !== undefined && origins.some((allowed) => allowed === "*" || allowed === origin);
}

/** The headers, name by name, that let a page of the request's origin read the answer; none when it may not. */
export function originHeaders(request: Exchange, origins: readonly string[]): readonly string[] {
  if (!isAllowedOrigin(request, origins)) return [];
  const origin = headerOf(request, "origin") ?? "";
  return ["access-control-allow-origin", origin, "access-control-expose-headers", EXPOSED, "vary", "origin"];
}

/** What a page is told when it asks beforehand what it may send. */
export function preflightHeaders(methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": TAKEN,
    "access-control-max-age": "600",
  };
}
