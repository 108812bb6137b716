import { unreachable } from "@oaas/foundation";
import { conflictFault } from "./store-faults.ts";
import type { Condition, Entry, LeaseId, Transaction, Write } from "./key-value-store.ts";

/** Condition: the key does not exist. */
export function absent(key: string): Condition {
  return { key, test: "absent" };
}

/** Condition: the key exists. */
export function present(key: string): Condition {
  return { key, test: "present" };
}

/** Condition: the entry has not changed since it was read. */
export function unchanged(entry: Entry): Condition {
  return { key: entry.key, test: "mod-revision", revision: entry.modRevision };
}

/** Condition: the key was not deleted and created again. Used for fencing. */
export function sameIncarnation(key: string, createRevision: number): Condition {
  return { key, test: "create-revision", revision: createRevision };
}

/** Whether an entry satisfies a condition. */
export function isSatisfied(condition: Condition, entry: Entry | undefined): boolean {
  switch (condition.test) {
    case "absent":
      return entry === undefined;
    case "present":
      return entry !== undefined;
    case "mod-revision":
      return entry?.modRevision === condition.revision;
    case "create-revision":
      return entry?.createRevision === condition.revision;
    default:
      return unreachable(condition);
  }
}

/** Throws the conflict fault of the first condition that is not satisfied. */
export function assertConditions(conditions: readonly Condition[], entryOf: (key: string) => Entry | undefined): void {
  for (const condition of conditions) {
    const entry = entryOf(condition.key);
    if (isSatisfied(condition, entry)) continue;
    throw conflictFault({
      condition,
      key: condition.key,
      present: entry && { modRevision: entry.modRevision, createRevision: entry.createRevision },
      outcomeUnknown: false,
    });
  }
}

/** Combines several transactions into one; equal conditions are kept once. The commit validates the result. */
export function combineTransactions(...parts: readonly Transaction[]): Transaction {
  const conditions: Condition[] = [];
  const writes: Write[] = [];
  for (const part of parts) {
    for (const condition of part.conditions ?? []) {
      if (!conditions.some((each) => isSame(each, condition))) conditions.push(condition);
    }
    writes.push(...part.writes);
  }
  return { conditions, writes };
}

function isSame(a: Condition, b: Condition): boolean {
  if (a.key !== b.key || a.test !== b.test) return false;
  return !("revision" in a) || ("revision" in b && a.revision === b.revision);
}

/** A put operation. */
export type Put = Extract<Write, { op: "put" }>;

export function putOf(key: string, value: string, lease: LeaseId | undefined): Put {
  return lease === undefined ? { op: "put", key, value } : { op: "put", key, value, lease };
}

/** Returns the entry after a put. */
export function entryOf({ key, value, lease }: Put, modRevision: number, before: Entry | undefined): Entry {
  const createRevision = before?.createRevision ?? modRevision;
  const version = (before?.version ?? 0) + 1;
  return lease === undefined
    ? { key, value, createRevision, modRevision, version }
    : { key, value, createRevision, modRevision, version, lease };
}
