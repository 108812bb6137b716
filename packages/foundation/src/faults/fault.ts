import { FAULT_CODES, type FaultCode } from "./fault-codes.ts";
import { countViolations, limitViolations, violationText, type Violation } from "./violation.ts";

/**
 * Cause of a failure, for programs. Independent of the transport; `contracts` maps it to HTTP and gRPC.
 */
export type FaultDetail =
  | { readonly kind: "invalid-argument"; readonly subject?: string; readonly violations: readonly Violation[] }
  | { readonly kind: "unauthenticated" }
  | { readonly kind: "permission-denied"; readonly action: string }
  | { readonly kind: "not-found"; readonly resource: string; readonly name: string }
  | { readonly kind: "already-exists"; readonly resource: string; readonly name: string }
  | { readonly kind: "conflict"; readonly resource: string; readonly name: string }
  | { readonly kind: "failed-precondition"; readonly subject: string }
  | { readonly kind: "resource-exhausted"; readonly limit: string; readonly retryAfterMs?: number }
  | { readonly kind: "unavailable"; readonly dependency: string; readonly retryAfterMs?: number }
  | { readonly kind: "deadline-exceeded"; readonly afterMs: number }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unimplemented"; readonly feature: string }
  | { readonly kind: "partial-failure"; readonly parts: readonly FaultPart[] }
  | { readonly kind: "internal" };

/** Fault of one part of a partial failure. */
export interface FaultPart {
  readonly name: string;
  readonly fault: Fault;
}

export type FaultKind = FaultDetail["kind"];

/** Details for the log. They must not leave the process. */
export type FaultContext = Readonly<Record<string, unknown>>;

/** Data that the fault was derived from, as JSON for clients. */
export type FaultEvidence = Readonly<Record<string, unknown>>;

export interface FaultOptions {
  /** By default the general code of the kind. */
  readonly code?: FaultCode;
  /** The caught error. Logged, never sent to clients. */
  readonly cause?: unknown;
  readonly context?: FaultContext;
  readonly evidence?: FaultEvidence;
  readonly correlationId?: string;
}

/** The members of a fault that a copy may replace. */
export interface FaultChanges extends FaultOptions {
  readonly detail?: FaultDetail;
  readonly message?: string;
}

/** Whether a retry can succeed. It depends on the kind alone; a partial failure depends on its parts. */
const RETRYABLE = {
  "invalid-argument": false,
  unauthenticated: false,
  "permission-denied": false,
  "not-found": false,
  "already-exists": false,
  conflict: true,
  "failed-precondition": false,
  "resource-exhausted": true,
  unavailable: true,
  "deadline-exceeded": true,
  cancelled: false,
  unimplemented: false,
  internal: false,
} as const satisfies Record<Exclude<FaultKind, "partial-failure">, boolean>;

/**
 * The one error type of the control plane.
 *
 * - `message` is safe for clients; `cause` and `context` are logged and never leave the process.
 * - `detail` and `evidence` are for programs; `code` is stable and documented (docs/reference/errors.md).
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly detail: FaultDetail;
  readonly code: FaultCode;
  readonly context: FaultContext;
  readonly evidence: FaultEvidence | undefined;
  readonly correlationId: string | undefined;

  constructor(detail: FaultDetail, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.detail = detail;
    this.code = options.code ?? generalCode(detail.kind);
    this.context = options.context ?? {};
    this.evidence = options.evidence;
    this.correlationId = options.correlationId;
  }

  get kind(): FaultKind {
    return this.detail.kind;
  }

  get retryable(): boolean {
    if (this.detail.kind === "partial-failure") {
      return this.detail.parts.every((part) => part.fault.retryable);
    }
    return RETRYABLE[this.detail.kind];
  }

  /** The violations of an invalid argument; empty for other kinds. */
  get violations(): readonly Violation[] {
    return this.detail.kind === "invalid-argument" ? this.detail.violations : [];
  }

  /** Returns the fault with this correlation id, unless it has one. */
  withCorrelationId(correlationId: string): Fault {
    return this.correlationId === undefined ? this.with({ correlationId }) : this;
  }

  /** Returns a copy with some members replaced. Keeps the stack unless the message changes. */
  with(changes: FaultChanges): Fault {
    const { detail = this.detail, message = this.message, ...options } = changes;
    const { code, context, evidence, correlationId, cause } = this;
    const kept: FaultOptions = {
      code,
      context,
      cause,
      ...(evidence === undefined ? {} : { evidence }),
      ...(correlationId === undefined ? {} : { correlationId }),
    };
    const copy = new Fault(detail, message, { ...kept, ...options });
    if (message === this.message && this.stack !== undefined) copy.stack = this.stack;
    return copy;
  }

  /** Converts any thrown value to a fault. An unexpected error becomes an internal fault with the error as cause. */
  static from(thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    if (isAbort(thrown)) return cancelled({ cause: thrown });
    return new Fault({ kind: "internal" }, "an internal error occurred; see the log for details", {
      cause: thrown,
    });
  }
}

function generalCode(kind: FaultKind): FaultCode {
  return `OAAS_${kind.replaceAll("-", "_").toUpperCase()}` as FaultCode;
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}

/** Whether something thrown is a fault of this kind. */
export function isFault<K extends FaultKind>(
  thrown: unknown,
  kind: K,
): thrown is Fault & { readonly detail: Extract<FaultDetail, { kind: K }> } {
  return thrown instanceof Fault && thrown.detail.kind === kind;
}

/** Returns the part that determines the response: the first that is not retryable, else the first. */
export function dominantPart(parts: readonly FaultPart[]): FaultPart | undefined {
  return parts.find((part) => !part.fault.retryable) ?? parts[0];
}

/** Rejects an input with all its violations; those beyond the first hundred are counted only. */
export function invalidArgument(subject: string, violations: readonly Violation[], options?: FaultOptions): Fault {
  return new Fault(
    { kind: "invalid-argument", subject, violations: limitViolations(violations) },
    invalidArgumentMessage(subject, violations),
    options,
  );
}

/** Violations in the message, which is in responses twice and in the log. */
const MAX_IN_MESSAGE = 20;

/** Formats the message of an invalid argument. Violations beyond `limit` are counted only. */
export function invalidArgumentMessage(
  subject: string,
  violations: readonly Violation[],
  limit: number = MAX_IN_MESSAGE,
): string {
  if (violations.length === 0) return `${subject} is invalid`;
  const listed = violations.slice(0, limit).map(violationText).join("; ");
  const rest = countViolations(violations) - limit;
  return `${subject} is invalid: ${listed}${rest > 0 ? `; and ${rest} more` : ""}`;
}

export function notFound(resource: string, name: string, options?: FaultOptions): Fault {
  return new Fault({ kind: "not-found", resource, name }, `${resource} "${name}" was not found`, options);
}

export function alreadyExists(resource: string, name: string, options?: FaultOptions): Fault {
  return new Fault({ kind: "already-exists", resource, name }, `${resource} "${name}" already exists`, options);
}

export function conflict(resource: string, name: string, options?: FaultOptions): Fault {
  return new Fault(
    { kind: "conflict", resource, name },
    `${resource} "${name}" was changed concurrently; read it again and retry`,
    options,
  );
}

export function failedPrecondition(subject: string, message: string, options?: FaultOptions): Fault {
  return new Fault({ kind: "failed-precondition", subject }, message, options);
}

export function unavailable(
  dependency: string,
  message: string,
  options: FaultOptions & { readonly retryAfterMs?: number } = {},
): Fault {
  const { retryAfterMs, ...rest } = options;
  const detail: FaultDetail =
    retryAfterMs === undefined
      ? { kind: "unavailable", dependency }
      : { kind: "unavailable", dependency, retryAfterMs };
  return new Fault(detail, message, rest);
}

export function resourceExhausted(limit: string, message: string, options?: FaultOptions): Fault {
  return new Fault({ kind: "resource-exhausted", limit }, message, options);
}

export function deadlineExceeded(afterMs: number, options?: FaultOptions): Fault {
  return new Fault(
    { kind: "deadline-exceeded", afterMs },
    `the deadline of ${Math.round(afterMs)} ms was exceeded`,
    options,
  );
}

export function cancelled(options?: FaultOptions): Fault {
  return new Fault({ kind: "cancelled" }, "the call was cancelled", options);
}

export function internal(message: string, options?: FaultOptions): Fault {
  return new Fault({ kind: "internal" }, message, options);
}

/** Returns the meaning of a fault's code. */
export function faultMeaning(fault: Fault): string {
  return FAULT_CODES[fault.code].meaning;
}
