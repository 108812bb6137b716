import { conflict, failedPrecondition, Fault, resourceExhausted, unavailable } from "@oaas/foundation";
import type { Condition } from "./key-value-store.ts";

/** Which condition of a transaction failed, and what is there instead. */
export interface Conflict {
  /** Undefined only when a lost answer left it open which condition failed. */
  readonly condition?: Condition;
  readonly key: string;
  /** The key's present revisions; undefined when it does not exist. */
  readonly present: { readonly modRevision: number; readonly createRevision: number } | undefined;
  /** True when the answer got lost and the keys have moved on, so that nobody can say whether it was applied. */
  readonly outcomeUnknown: boolean;
}

/** The fault of a transaction whose condition does not hold. */
export function conflictFault(details: Conflict): Fault {
  return conflict("key", details.key, { context: { conflict: details } });
}

/** What a conflict was about, or undefined when something else was thrown. */
export function conflictOf(thrown: unknown): Conflict | undefined {
  return thrown instanceof Fault && thrown.kind === "conflict"
    ? (thrown.context["conflict"] as Conflict | undefined)
    : undefined;
}

/**
 * Whether a commit that failed may have been applied all the same (the connection broke before the answer).
 *
 * Read again before repeating such a transaction; one that is guarded by a condition on a key it changes is
 * repeated by the backend itself and never reported this way unless the keys have moved on since.
 */
export function outcomeUnknown(thrown: unknown): boolean {
  if (!(thrown instanceof Fault)) return false;
  return thrown.context["outcomeUnknown"] === true || conflictOf(thrown)?.outcomeUnknown === true;
}

export function compactedFault(asked: number, oldest: number | undefined): Fault {
  const since = oldest === undefined ? "" : `; history starts at ${oldest}`;
  return failedPrecondition("revision", `revision ${asked} is older than the history kept${since}`, {
    code: "OAAS_STORE_COMPACTED",
    context: { asked, oldest },
  });
}

export function leaseLostFault(lease: string, why: string, cause?: unknown): Fault {
  return failedPrecondition("lease", `the lease ${lease} is lost: ${why}`, {
    code: "OAAS_LEASE_LOST",
    ...(cause === undefined ? {} : { cause }),
  });
}

export function closedFault(): Fault {
  return failedPrecondition("store", "the store is closed");
}

export function fullFault(what: string, cause: unknown): Fault {
  return resourceExhausted(what, `${what} is full; nothing was changed`, { code: "OAAS_STORE_FULL", cause });
}

export function unknownOutcomeFault(dependency: string, cause: unknown): Fault {
  return unavailable(
    dependency,
    `${dependency} did not answer a write; it may have been applied: read again before repeating it`,
    { cause, context: { outcomeUnknown: true } },
  );
}
