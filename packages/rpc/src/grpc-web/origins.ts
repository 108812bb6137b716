import { METADATA_KEYS } from "@oaas/contracts/grpc";

/** Pages that may call: their origins (`https://console.example`), or `*` for all. */
export type AllowedOrigins = readonly string[];

const REQUEST_HEADERS = [
  "content-type",
  "x-grpc-web",
  "x-user-agent",
  METADATA_KEYS.timeout,
  METADATA_KEYS.authorization,
  METADATA_KEYS.correlationId,
  METADATA_KEYS.traceparent,
  METADATA_KEYS.tracestate,
];

/** How long a browser need not ask again. */
const REMEMBER_SECONDS = 7_200;

/** Whether a call that says where its page is from may come in. One without an origin comes from no page. */
export function isAllowedOrigin(allowed: AllowedOrigins, origin: string | undefined): boolean {
  return origin === undefined || allowed.includes("*") || allowed.includes(origin);
}

/** What lets the page at that origin read the answer. Nothing for a caller that is no page. */
export function answerHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": METADATA_KEYS.correlationId,
    vary: "origin",
  };
}

/** What a browser wants to know before it lets a page at that origin call. Cookies are no part of it: tokens go by header. */
export function preflightHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": REQUEST_HEADERS.join(", "),
    "access-control-max-age": String(REMEMBER_SECONDS),
    vary: "origin",
  };
}
