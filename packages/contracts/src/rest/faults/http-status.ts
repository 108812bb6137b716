import { dominantPart, Fault, type CrossSiteProblem, type FaultCode, type FaultKind } from "@oaas/foundation";

/**
 * HTTP status by fault kind; the only place that defines error statuses.
 *
 * A partial failure takes the status of its dominant part (`faultStatus`).
 */
export const HTTP_STATUS_OF_KIND = {
  "invalid-argument": 400,
  unauthenticated: 401,
  "permission-denied": 403,
  "not-found": 404,
  "already-exists": 409,
  conflict: 409,
  "failed-precondition": 400,
  "resource-exhausted": 429,
  unavailable: 503,
  "deadline-exceeded": 504,
  cancelled: 499,
  unimplemented: 501,
  "partial-failure": 500,
  internal: 500,
} as const satisfies Record<FaultKind, number>;

/** Codes whose kind would map to a client error although the server is at fault. */
export const HTTP_STATUS_OF_CODE = {
  OAAS_STORE_FULL: 503,
  OAAS_STORE_COMPACTED: 410,
  OAAS_LEASE_LOST: 503,
  OAAS_VERSION_MISMATCH: 412,
} as const satisfies Partial<Record<FaultCode, number>>;

/**
 * Errors specific to HTTP, with the kind of their fault. The response takes their status instead of that of the kind.
 */
export const HTTP_ERRORS = {
  "bad-request": { status: 400, kind: "invalid-argument" },
  "method-not-allowed": { status: 405, kind: "unimplemented" },
  "not-acceptable": { status: 406, kind: "invalid-argument" },
  "request-timeout": { status: 408, kind: "deadline-exceeded" },
  "precondition-failed": { status: 412, kind: "conflict" },
  "payload-too-large": { status: 413, kind: "invalid-argument" },
  "uri-too-long": { status: 414, kind: "invalid-argument" },
  "unsupported-media-type": { status: 415, kind: "invalid-argument" },
  "expectation-failed": { status: 417, kind: "invalid-argument" },
  "misdirected-request": { status: 421, kind: "permission-denied" },
  "unprocessable-content": { status: 422, kind: "invalid-argument" },
  "precondition-required": { status: 428, kind: "failed-precondition" },
  "header-too-large": { status: 431, kind: "invalid-argument" },
} as const satisfies Record<string, { readonly status: number; readonly kind: FaultKind }>;

export type HttpErrorName = keyof typeof HTTP_ERRORS;

/** A fault with a status that only HTTP knows, and with headers of its response. */
export class HttpError extends Error {
  readonly fault: Fault;
  readonly httpError: HttpErrorName;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(fault: Fault, httpError: HttpErrorName, headers?: Readonly<Record<string, string>>) {
    super(fault.message);
    this.fault = fault;
    this.httpError = httpError;
    this.headers = headers;
  }
}

/** The error of a request that a foreign web page may have sent. `alternative` is a further way to fix it. */
export function crossSiteError({ status, message, fix }: CrossSiteProblem, alternative?: string): Fault | HttpError {
  const fixes = alternative === undefined ? fix : `${fix}, or ${alternative}`;
  const fault = new Fault({ kind: "permission-denied", action: "requests of other sites" }, `${message}; ${fixes}`);
  return status === 421 ? new HttpError(fault, "misdirected-request") : fault;
}

/** The HTTP status of a fault. A partial failure takes that of its dominant part, so that an outage is not a 400. */
export function faultStatus(fault: Fault): number {
  if (fault.detail.kind === "partial-failure") {
    const part = dominantPart(fault.detail.parts);
    return part === undefined ? HTTP_STATUS_OF_KIND["partial-failure"] : faultStatus(part.fault);
  }
  const own: Readonly<Partial<Record<FaultCode, number>>> = HTTP_STATUS_OF_CODE;
  return own[fault.code] ?? HTTP_STATUS_OF_KIND[fault.detail.kind];
}

const KIND_OF_STATUS = new Map<number, FaultKind>([
  ...Object.values(HTTP_ERRORS).map(({ status, kind }) => [status, kind] as const),
  [400, "invalid-argument"],
  [401, "unauthenticated"],
  [403, "permission-denied"],
  [404, "not-found"],
  [408, "deadline-exceeded"],
  [409, "conflict"],
  [410, "not-found"],
  [429, "resource-exhausted"],
  [499, "cancelled"],
  [501, "unimplemented"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "deadline-exceeded"],
]);

/** The fault kind of a status, for responses without a problem body. */
export function kindOfStatus(status: number): FaultKind {
  return KIND_OF_STATUS.get(status) ?? (status >= 400 && status < 500 ? "invalid-argument" : "internal");
}

/** The Retry-After header of a fault in seconds, rounded up; undefined without a retry delay. */
export function retryAfterHeader(fault: Fault): string | undefined {
  const ms = retryAfterMsOf(fault);
  return ms === undefined ? undefined : String(Math.ceil(ms / 1000));
}

/** The retry delay of a fault; for a partial failure, the longest of its parts. */
function retryAfterMsOf({ detail }: Fault): number | undefined {
  if (detail.kind === "unavailable" || detail.kind === "resource-exhausted") return detail.retryAfterMs;
  if (detail.kind !== "partial-failure") return undefined;
  const waits = detail.parts.map((part) => retryAfterMsOf(part.fault)).filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Milliseconds of a Retry-After header (seconds or an HTTP date); undefined when it is not valid. */
export function retryAfterMsFrom(header: string | undefined | null, nowMs: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
