import { unreachable } from "@oaas/foundation";
import { conflictFault } from "./kv-faults.ts";
import type { Condition, Entry, Transaction, Write } from "./kv.ts";

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
