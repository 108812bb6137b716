import { unreachable } from "@oaas/foundation";
import { conflictFault } from "./store-faults.ts";
import type { Condition, Entry, LeaseId, Transaction, Write } from "./key-value-store.ts";

/** The key must not exist. */
export function absent(key: string): Condition {
  return { key, test: "absent" };
}

/** The key must exist. */
export function present(key: string): Condition {
  return { key, test: "present" };
}

/** The entry must be just as it was read. */
export function unchanged(entry: Entry): Condition {
  return { key: entry.key, test: "mod-revision", revision: entry.modRevision };
}

/** The key must be the same incarnation, whatever was written to it since: the fencing condition. */
export function sameIncarnation(key: string, createRevision: number): Condition {
  return { key, test: "create-revision", revision: createRevision };
}

/** Whether a condition holds for what is there. */
export function holds(condition: Condition, entry: Entry | undefined): boolean {
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

/** Throws the conflict fault of the first condition that does not hold. */
export function assertConditions(conditions: readonly Condition[], entryOf: (key: string) => Entry | undefined): void {
  for (const condition of conditions) {
    const entry = entryOf(condition.key);
    if (holds(condition, entry)) continue;
    throw conflictFault({
      condition,
      key: condition.key,
      present: entry && { modRevision: entry.modRevision, createRevision: entry.createRevision },
      outcomeUnknown: false,
    });
  }
}

/** One transaction of several parts; whether they fit together is judged by the commit. */
export function together(...parts: readonly Transaction[]): Transaction {
  const conditions: Condition[] = [];
  const writes: Write[] = [];
  for (const part of parts) {
    if (part.conditions) conditions.push(...part.conditions);
    writes.push(...part.writes);
  }
  return { conditions, writes };
}

/** A write that puts a value. */
export type Put = Extract<Write, { op: "put" }>;

/** A write of a value. */
export function putOf(key: string, value: string, lease: LeaseId | undefined): Put {
  return lease === undefined ? { op: "put", key, value } : { op: "put", key, value, lease };
}

/** The entry that a write makes of the one before it. */
export function entryOf({ key, value, lease }: Put, modRevision: number, before: Entry | undefined): Entry {
  const createRevision = before?.createRevision ?? modRevision;
  const version = (before?.version ?? 0) + 1;
  return lease === undefined
    ? { key, value, createRevision, modRevision, version }
    : { key, value, createRevision, modRevision, version, lease };
}
