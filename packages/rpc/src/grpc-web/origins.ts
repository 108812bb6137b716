import { METADATA_KEYS } from "@oaas/contracts/grpc";

/** Allowed origins of web pages (`https://console.example`), or `*` for all. */
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

/** Time that a browser may cache a preflight response. */
const PREFLIGHT_CACHE_SECONDS = 7_200;

/** Whether a request with this Origin header is allowed. A request without one does not come from a web page. */
export function isAllowedOrigin(allowed: AllowedOrigins, origin: string | undefined): boolean {
  return origin === undefined || allowed.includes("*") || allowed.includes(origin);
}

/** Returns the CORS headers of a response. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": METADATA_KEYS.correlationId,
    vary: "origin",
  };
}

/** Returns the headers of a preflight response. Cookies are not allowed: tokens are sent in a header. */
export function preflightHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": REQUEST_HEADERS.join(", "),
    "access-control-max-age": String(PREFLIGHT_CACHE_SECONDS),
    vary: "origin",
  };
}
