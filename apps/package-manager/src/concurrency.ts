import { conflict, Fault } from "@oaas/foundation";
import { conflictOf } from "@oaas/storage";
import type { IdempotencyRecord, VersionCondition } from "./use-cases.ts";

/**
 * Runs a read-decide-write again until its transaction meets no conflict.
 *
 * A conflict on the idempotency key is thrown: another process has taken the request over.
 */
export async function retryOnConflict<T>(work: () => Promise<T>, idempotency?: IdempotencyRecord): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const conflict = conflictOf(thrown);
      if (conflict === undefined || conflict.key === idempotency?.key) throw thrown;
    }
  }
}

/** Rejects a write whose precondition the resource does not meet. `version` is undefined when it does not exist. */
export function assertVersionOf(
  resource: string,
  name: string,
  version: number | undefined,
  { oneOf, noneOf }: VersionCondition,
): void {
  if (oneOf !== undefined && !isAmong(version, oneOf))
    throw version === undefined
      ? mismatch(resource, name, "does not exist")
      : conflict(resource, name, { code: "OAAS_VERSION_MISMATCH" });
  if (noneOf !== undefined && isAmong(version, noneOf))
    throw mismatch(resource, name, noneOf === "any" ? "exists already" : `has the version ${version}`);
}

function isAmong(version: number | undefined, versions: readonly number[] | "any"): boolean {
  return version !== undefined && (versions === "any" || versions.includes(version));
}

function mismatch(resource: string, name: string, how: string): Fault {
  return new Fault(
    { kind: "conflict", resource, name },
    `${resource} "${name}" ${how}; the precondition of the request excludes that`,
    { code: "OAAS_VERSION_MISMATCH" },
  );
}
