import { Fault, invalidArgument, ROOT_PATH, type FaultDetail, type Violation } from "@oaas/foundation";
import { fieldConflictsIn, fieldConflictText, type FieldConflict } from "./apply-conflict.ts";
import { fieldPathToJsonPath } from "./field-path.ts";
import { isStatusReason, parseStatus, type Status, type StatusReason } from "./status.ts";

/** Facts about a response besides its body. */
export interface ResponseInfo {
  /** The HTTP status; absent for the error event of a watch. */
  readonly httpStatus?: number;
  /** The request, for people: `get pods shop/web`. */
  readonly what?: string;
  /** The `Retry-After` header. */
  readonly retryAfterSeconds?: number;
}

/** The context of a fault created here. */
export interface StatusFaultContext {
  readonly what?: string;
  readonly httpStatus?: number;
  /** The server's reason; derived from the code when the server gave no known reason. */
  readonly reason: string;
  readonly serverMessage?: string;
  /** The requested version has expired: list again. */
  readonly expired?: true;
  readonly fieldConflicts?: readonly FieldConflict[];
  /** The start of a body that is not a status. */
  readonly body?: string;
}

const DEPENDENCY = "the Kubernetes API";
const SHOWN_BODY = 500;

const REASON_BY_CODE: Readonly<Record<number, StatusReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  408: "Timeout",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  501: "MethodNotAllowed",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/**
 * Converts an error response of the API server to a fault. `body` is the response, parsed or as text; a body that is
 * not a status is judged by the HTTP code alone.
 *
 * The kind determines whether to retry:
 * - `AlreadyExists` is already-exists, `Conflict` is conflict: read again and retry.
 * - A conflict of server-side apply is failed-precondition: the same apply always fails. Its message names managers and
 * fields; `fieldConflictsOf` returns them.
 * - `Expired` and `Gone` are failed-precondition, marked for `isExpired`: the version is gone permanently.
 * - Every 5xx is unavailable, also `InternalError`: most come from a webhook or a store that will recover. A `Timeout`
 * may
 * have done its work, so it does not suggest an immediate retry. A 500 that reports a schema mismatch of an applied
 * object is invalid-argument: the server rejects unknown fields that way.
 */
export function faultFromStatus(body: unknown, response: ResponseInfo = {}): Fault {
  const parsed = parseStatus(body);
  const status: Status = parsed ?? { status: "Failure" };
  const code = status.code ?? response.httpStatus;
  const reason = isSchemaViolation(status)
    ? "Invalid"
    : isStatusReason(status.reason)
      ? status.reason
      : reasonOfCode(code);
  const conflicts = reason === "Conflict" ? fieldConflictsIn(status) : [];
  const context: StatusFaultContext = {
    reason: reason ?? status.reason ?? "Unknown",
    ...(response.what === undefined ? {} : { what: response.what }),
    ...(code === undefined ? {} : { httpStatus: code }),
    ...(status.message === undefined ? {} : { serverMessage: status.message }),
    ...(reason === "Expired" || reason === "Gone" ? { expired: true } : {}),
    ...(conflicts.length === 0 ? {} : { fieldConflicts: conflicts }),
    ...(parsed === undefined && typeof body === "string" ? { body: body.slice(0, SHOWN_BODY) } : {}),
  };
  const options = { context: { ...context } };

  const what = response.what ?? "the request";
  if (conflicts.length > 0) {
    const message = `${what} would take fields from other managers: ${fieldConflictText(conflicts)}`;
    return new Fault({ kind: "failed-precondition", subject: what }, message, options);
  }
  const detail = detailOf(reason, status, what, retryAfter(status, response));
  if (detail.kind === "invalid-argument") return invalidArgument(what, detail.violations, options);
  return new Fault(detail, `${what} failed: ${status.message || codeText(code)}`, options);
}

/** Whether a fault says that the requested version has expired, so that only a new list helps. */
export function isExpired(fault: Fault): boolean {
  return fault.context["expired"] === true;
}

/** The server's reason of a fault created by `faultFromStatus`. */
export function statusReasonOf(fault: Fault): string | undefined {
  const reason = fault.context["reason"];
  return typeof reason === "string" ? reason : undefined;
}

/** The fields and managers of a failed apply; empty for every other fault. */
export function fieldConflictsOf(fault: Fault): readonly FieldConflict[] {
  const conflicts = fault.context["fieldConflicts"];
  return Array.isArray(conflicts) ? (conflicts as readonly FieldConflict[]) : [];
}

function detailOf(
  reason: StatusReason | undefined,
  status: Status,
  what: string,
  retryAfterMs: number | undefined,
): FaultDetail {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const resource = resourceOf(status);
  const name = status.details?.name ?? "";
  switch (reason) {
    case "Unauthorized":
      return { kind: "unauthenticated" };
    case "Forbidden":
      // A terminating namespace rejects new objects with 403; no role changes that.
      return hasCause(status, "NamespaceTerminating")
        ? { kind: "failed-precondition", subject: what }
        : { kind: "permission-denied", action: what };
    case "NotFound":
      return { kind: "not-found", resource, name };
    case "AlreadyExists":
      return { kind: "already-exists", resource, name };
    case "Conflict":
      return { kind: "conflict", resource, name };
    case "Gone":
    case "Expired":
      return { kind: "failed-precondition", subject: what };
    case "TooManyRequests":
      return { kind: "resource-exhausted", limit: `requests to ${DEPENDENCY}`, ...wait };
    case "MethodNotAllowed":
    case "NotAcceptable":
    case "UnsupportedMediaType":
      return { kind: "unimplemented", feature: what };
    case "Timeout":
      return hasCause(status, "ResourceVersionTooLarge")
        ? { kind: "unavailable", dependency: DEPENDENCY, ...wait }
        : { kind: "unavailable", dependency: DEPENDENCY };
    case "ServerTimeout":
    case "ServiceUnavailable":
    case "InternalError":
    case "StorageReadError":
      return { kind: "unavailable", dependency: DEPENDENCY, ...wait };
    case "Invalid":
    case "BadRequest":
    case "RequestEntityTooLarge":
      return { kind: "invalid-argument", violations: violationsIn(status) };
    case undefined:
      return { kind: "internal" };
  }
}

/** Codes of 500 and above without a reason are server errors; any other unknown code is ours. */
function reasonOfCode(code: number | undefined): StatusReason | undefined {
  if (code === undefined) return undefined;
  return REASON_BY_CODE[code] ?? (code >= 500 ? "InternalError" : undefined);
}

const UNFIT = "failed to create typed patch object";
const UNFIT_FIELD = /(?:^|\): |\n[ \t]*)(\.\S+): (.+)/g;

/** Whether the server could not read the applied object as its kind. */
function isSchemaViolation({ message = "" }: Status): boolean {
  return message.startsWith(UNFIT);
}

function violationsIn(status: Status): readonly Violation[] {
  const causes = status.details?.causes ?? [];
  const unfit = isSchemaViolation(status) ? [...(status.message ?? "").matchAll(UNFIT_FIELD)] : [];
  if (unfit.length > 0)
    return unfit.map(([, field = "", message = ""]) => ({ path: fieldPathToJsonPath(field), message }));
  if (causes.length === 0) return [{ path: ROOT_PATH, message: status.message ?? "was rejected without a reason" }];
  return causes.map(({ field = "", message, reason }) => ({
    path: fieldPathToJsonPath(field),
    message: message ?? reason ?? "is invalid",
  }));
}

function retryAfter(status: Status, response: ResponseInfo): number | undefined {
  const seconds = response.retryAfterSeconds ?? status.details?.retryAfterSeconds;
  return seconds === undefined || !(seconds > 0) ? undefined : seconds * 1000;
}

function resourceOf({ details }: Status): string {
  const { kind = "resource", group = "" } = details ?? {};
  return group === "" ? kind : `${kind}.${group}`;
}

function hasCause(status: Status, type: string): boolean {
  return status.details?.causes?.some((cause) => cause.reason === type) ?? false;
}

function codeText(code: number | undefined): string {
  return code === undefined ? "the server gave no reason" : `the server returned ${code} without a reason`;
}
