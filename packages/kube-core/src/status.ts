import { isJsonObject, type JsonObject } from "./json-value.ts";

/** The server's reasons. Servers may add others. */
export const STATUS_REASONS = [
  "Unauthorized",
  "Forbidden",
  "NotFound",
  "AlreadyExists",
  "Conflict",
  "Gone",
  "Expired",
  "Invalid",
  "BadRequest",
  "ServerTimeout",
  "StorageReadError",
  "Timeout",
  "TooManyRequests",
  "MethodNotAllowed",
  "NotAcceptable",
  "RequestEntityTooLarge",
  "UnsupportedMediaType",
  "InternalError",
  "ServiceUnavailable",
] as const;

/** A known reason. */
export type StatusReason = (typeof STATUS_REASONS)[number];

/** One of several causes: type, message and field. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The object of the error. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The kind, or in most responses the resource (`pods`). */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The response of the API server when there is no object to return, mostly for errors. */
export interface Status {
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: StatusDetails;
}

/** Whether this is a known reason. */
export function isStatusReason(reason: string | undefined): reason is StatusReason {
  return STATUS_REASONS.some((known) => known === reason);
}

/** Parses a status from a response body, parsed or as text. Undefined for anything else, such as a proxy's page. */
export function parseStatus(body: unknown): Status | undefined {
  const value = typeof body === "string" ? parsedJson(body) : body;
  if (!isJsonObject(value) || value["kind"] !== "Status") return undefined;
  const details = value["details"];
  return {
    status: value["status"] === "Success" ? "Success" : "Failure",
    ...pickStrings(value, ["message", "reason"]),
    ...pickNumber(value, "code"),
    ...(isJsonObject(details) ? { details: detailsOf(details) } : {}),
  };
}

function detailsOf(details: JsonObject): StatusDetails {
  const causes = details["causes"];
  return {
    ...pickStrings(details, ["name", "group", "kind", "uid"]),
    ...pickNumber(details, "retryAfterSeconds"),
    ...(Array.isArray(causes)
      ? { causes: causes.filter(isJsonObject).map((cause) => pickStrings(cause, ["reason", "message", "field"])) }
      : {}),
  };
}

function parsedJson(text: string): unknown {
  // Bodies that are not JSON are mostly HTML pages or lines of text; a failed parse is expected.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pickStrings<K extends string>(from: JsonObject, names: readonly K[]): { readonly [N in K]?: string } {
  const entries = names.map((name) => [name, from[name]] as const).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(entries) as { readonly [N in K]?: string };
}

function pickNumber<K extends string>(from: JsonObject, name: K): { readonly [N in K]?: number } {
  const value = from[name];
  return (typeof value === "number" ? { [name]: value } : {}) as { readonly [N in K]?: number };
}
