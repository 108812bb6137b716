import { conflict, failedPrecondition, Fault, resourceExhausted, unavailable } from "@oaas/foundation";
import type { Condition } from "./key-value-store.ts";

/** The failed condition of a transaction, and the current state of its key. */
export interface Conflict {
  /** Undefined only if a response was lost and the failed condition is unknown. */
  readonly condition?: Condition;
  readonly key: string;
  /** Current revisions of the key; undefined if it does not exist. */
  readonly present: { readonly modRevision: number; readonly createRevision: number } | undefined;
  /** True if the response was lost and the keys have changed since, so that the outcome cannot be determined. */
  readonly outcomeUnknown: boolean;
}

/** Fault of a transaction with an unsatisfied condition. */
export function conflictFault(details: Conflict): Fault {
  return conflict("key", details.key, { context: { conflict: details } });
}

/** Returns the conflict of a fault; undefined for other errors. */
export function conflictOf(thrown: unknown): Conflict | undefined {
  return thrown instanceof Fault && thrown.kind === "conflict"
    ? (thrown.context["conflict"] as Conflict | undefined)
    : undefined;
}

/**
 * Whether a failed commit may have been applied, because the connection broke before the response.
 *
 * Read again before repeating such a transaction. The backend itself repeats a transaction with a condition on a key
 * that it writes, so it is reported this way only if the keys have changed since.
 */
export function outcomeUnknown(thrown: unknown): boolean {
  if (!(thrown instanceof Fault)) return false;
  return thrown.context["outcomeUnknown"] === true || conflictOf(thrown)?.outcomeUnknown === true;
}

export function compactedFault(requested: number, oldest: number | undefined): Fault {
  const since = oldest === undefined ? "" : `; history starts at ${oldest}`;
  return failedPrecondition("revision", `revision ${requested} is older than the retained history${since}`, {
    code: "OAAS_STORE_COMPACTED",
    context: { requested, oldest },
  });
}

export function leaseLostFault(lease: string, reason: string, cause?: unknown): Fault {
  return failedPrecondition("lease", `lease ${lease} was lost: ${reason}`, {
    code: "OAAS_LEASE_LOST",
    ...(cause === undefined ? {} : { cause }),
  });
}

export function closedFault(): Fault {
  return failedPrecondition("store", "the store is closed");
}

export function fullFault(what: string, cause: unknown): Fault {
  return resourceExhausted(what, `${what} is full; nothing changed`, { code: "OAAS_STORE_FULL", cause });
}

export function unknownOutcomeFault(dependency: string, cause: unknown): Fault {
  return unavailable(
    dependency,
    `${dependency} did not respond to a write, which may have been applied: read again before repeating it`,
    { cause, context: { outcomeUnknown: true } },
  );
}
