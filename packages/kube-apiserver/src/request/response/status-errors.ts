import type { CrossSiteProblem } from "@oaas/foundation";
import { groupResourceText, type JsonObject, type Status } from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { quoteGoString } from "../../go-format.ts";

/** Error responses, with the real server's messages. */

export interface ResourceText {
  readonly group: string;
  readonly resource: string;
}

function createFailure(code: number, reason: string, message: string, details?: Status["details"]): Status {
  return { status: "Failure", message, reason, ...(details === undefined ? {} : { details }), code };
}

function createDetails({ group, resource }: ResourceText, name: string): Status["details"] {
  return { name, ...(group === "" ? {} : { group }), kind: resource };
}

export function unknownPath(): Status {
  return createFailure(404, "NotFound", "the server could not find the requested resource", {});
}

export function methodNotAllowed(): Status {
  return createFailure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** The error of custom kinds for a verb that a subresource lacks. */
export function verbNotSupported(verb: string, of: ResourceText): Status {
  const message = `${verb} is not supported on resources of kind ${JSON.stringify(groupResourceText(of))}`;
  return createFailure(405, "MethodNotAllowed", message, { group: of.group, kind: of.resource });
}

export function notFound(of: ResourceText, name: string): Status {
  return createFailure(
    404,
    "NotFound",
    `${groupResourceText(of)} ${quoteGoString(name)} not found`,
    createDetails(of, name),
  );
}

export function alreadyExists(of: ResourceText, name: string, isTerminating = false): Status {
  const message = `${isTerminating ? "object is being deleted: " : ""}${groupResourceText(of)} ${quoteGoString(name)} already exists`;
  return createFailure(409, "AlreadyExists", message, createDetails(of, name));
}

export function conflict(of: ResourceText, name: string, reason: string): Status {
  const message = `Operation cannot be fulfilled on ${groupResourceText(of)} ${quoteGoString(name)}: ${reason}`;
  return createFailure(409, "Conflict", message, createDetails(of, name));
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function badRequest(message: string): Status {
  return createFailure(400, "BadRequest", message);
}

export function forbidden(of: ResourceText, name: string, reason: string, causes?: readonly FieldError[]): Status {
  const message = `${groupResourceText(of)} ${quoteGoString(name)} is forbidden: ${reason}`;
  return createFailure(403, "Forbidden", message, {
    ...createDetails(of, name),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** An error without a reason in the real server. */
export function internalError(message: string): Status {
  return { status: "Failure", message, code: 500 };
}

export function expired(message: string): Status {
  return createFailure(410, "Expired", message);
}

export function tooLargeVersion(requested: string, current: number): Status {
  return createFailure(504, "Timeout", `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

const BODY_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

export function unknownBodyType(accepted = BODY_TYPES): Status {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return createFailure(415, "UnsupportedMediaType", message);
}

export function unknownPatchType(): Status {
  return createFailure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

const WATCH_TYPES = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/** No accepted response form is supported. */
export function notAcceptable(isCollection = false): Status {
  // Everything that can be listed can be watched.
  const available = isCollection ? `${BODY_TYPES}, ${WATCH_TYPES}` : BODY_TYPES;
  return createFailure(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available}`, {});
}

/** The same for a known form that is unsupported here. */
export function formNotAccepted(isWatch = false): Status {
  const accepted = isWatch ? WATCH_TYPES : BODY_TYPES;
  return createFailure(406, "NotAcceptable", `only the following media types are accepted: ${accepted}`);
}

/** A request of a foreign web page to a server without authentication. The real server has no such error. */
export function foreignRequest({ status, message, fix }: CrossSiteProblem): Status {
  return createFailure(status, "Forbidden", `${message}; ${fix}`);
}

export function serviceUnavailable(message: string): Status {
  return createFailure(503, "ServiceUnavailable", message);
}

export function tooManyRequests(): Status {
  const message = "Too many requests, please try again later.";
  return createFailure(429, "TooManyRequests", message, { retryAfterSeconds: 1 });
}

export function tooLarge(limit: number): Status {
  return createFailure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}

/** Invalid request options. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): Status {
  return invalid({ group: "meta.k8s.io", kind }, "", errors);
}

/** The rejection of an object with field errors. */
export function invalid(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): Status {
  const qualifiedKind = group === "" ? kind : `${kind}.${group}`;
  // A duplicate error is listed twice as a cause, but once in the message.
  const [only, ...more] = new Set(errors.map(({ field, message }) => `${field}: ${message}`));
  const list = more.length === 0 ? (only ?? "") : `[${[only, ...more].join(", ")}]`;
  return createFailure(422, "Invalid", `${qualifiedKind} ${quoteGoString(name)} is invalid: ${list}`, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(kind === "" ? {} : { kind }),
    causes: errors,
  });
}

/** A status as a response body. */
export function statusObject(status: Status): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, ...status } as unknown as JsonObject;
}
