import { Fault, unavailable } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import { absent, present, sameIncarnation } from "../../port/transaction.ts";
import { conflictFault, conflictOf, outcomeUnknown } from "../../port/store-faults.ts";
import type { Committed, Entry, Transaction } from "../../port/key-value-store.ts";
import { commitOnce, guardsItself } from "./commit.ts";
import { Unanswered } from "./connection/connection.ts";

const lost = (): Unanswered => new Unanswered(unavailable("etcd", "the line broke"));
const entry = (value: string, modRevision: number, createRevision = modRevision): Entry => ({
  key: "k",
  value,
  createRevision,
  modRevision,
  version: 1,
});
const CREATE: Transaction = { conditions: [absent("k")], writes: [{ op: "put", key: "k", value: "ours" }] };
const UPDATE: Transaction = {
  conditions: [{ key: "k", test: "mod-revision", revision: 5 }],
  writes: [{ op: "put", key: "k", value: "ours" }],
};
const DELETE: Transaction = {
  conditions: [{ key: "k", test: "mod-revision", revision: 5 }],
  writes: [{ op: "delete", key: "k" }],
};

/** Runs a commit against prepared responses. */
async function run(
  transaction: Transaction,
  sends: readonly (Committed | Error)[],
  reads: readonly (Entry | undefined | Error)[] = [],
): Promise<{ outcome: Committed | Fault; sent: number }> {
  let sent = 0;
  let read = 0;
  const answer = <T>(value: T | Error | undefined): T => {
    if (value instanceof Error) throw value;
    return value as T;
  };
  const outcome = await commitOnce(transaction, {
    send: async () => answer(sends[(sent += 1) - 1] ?? new Error("sent too often")),
    read: async (keys) => {
      const found = answer<Entry | undefined>(reads[(read += 1) - 1]);
      return keys.map((key) => (key === "k" ? found : undefined));
    },
    revision: async () => 99,
  }).catch((thrown: unknown) => Fault.from(thrown));
  return { outcome, sent };
}

describe("a commit without a response", () => {
  const done: Committed = { revision: 7, changed: true };
  const conflictNow = conflictFault({ condition: absent("k"), key: "k", present: undefined, outcomeUnknown: false });
  const cases: {
    case: string;
    transaction: Transaction;
    sends: (Committed | Error)[];
    reads: (Entry | undefined | Error)[];
    expected: Committed;
    sent: number;
  }[] = [
    {
      case: "created: found when reading the key",
      transaction: CREATE,
      sends: [lost()],
      reads: [entry("ours", 7)],
      expected: done,
      sent: 1,
    },
    {
      case: "updated: found when reading the key",
      transaction: UPDATE,
      sends: [lost()],
      reads: [entry("ours", 7, 5)],
      expected: done,
      sent: 1,
    },
    {
      case: "deleted: found when reading the key",
      transaction: DELETE,
      sends: [lost()],
      reads: [undefined],
      expected: { revision: 99, changed: true },
      sent: 1,
    },
    {
      case: "not created: sent again",
      transaction: CREATE,
      sends: [lost(), done],
      reads: [undefined],
      expected: done,
      sent: 2,
    },
    {
      case: "not updated although the old value was equal: sent again",
      transaction: UPDATE,
      sends: [lost(), done],
      reads: [entry("ours", 5)],
      expected: done,
      sent: 2,
    },
    {
      case: "received late, just before it was sent again: the conflict with the own write is success",
      transaction: CREATE,
      sends: [lost(), conflictNow],
      reads: [undefined, entry("ours", 7)],
      expected: done,
      sent: 2,
    },
  ];
  test.each(cases)("$case", async ({ transaction, sends, reads, expected, sent }) => {
    expect(await run(transaction, sends, reads)).toEqual({ outcome: expected, sent });
  });

  test("is a conflict with unknown outcome when the key has changed since", async () => {
    for (const [transaction, found] of [
      [CREATE, entry("theirs", 7)],
      [UPDATE, entry("theirs", 9, 5)],
      [UPDATE, undefined],
      [DELETE, entry("theirs", 9, 5)],
    ] as const) {
      const { outcome, sent } = await run(transaction, [lost()], [found]);
      expect(outcome).toMatchObject({ kind: "conflict", retryable: true });
      expect(outcomeUnknown(outcome)).toBe(true);
      expect(sent).toBe(1);
    }
  });

  test("is never sent twice without a guard, and the fault reports the unknown outcome", async () => {
    const blind: Transaction = { writes: [{ op: "put", key: "k", value: "ours" }] };
    const { outcome, sent } = await run(blind, [lost()]);
    expect(sent).toBe(1);
    expect(outcome).toMatchObject({ kind: "unavailable", retryable: true });
    expect(outcomeUnknown(outcome)).toBe(true);
  });

  test("stays unknown when the keys cannot be read", async () => {
    const { outcome } = await run(CREATE, [lost()], [unavailable("etcd", "still away")]);
    expect(outcomeUnknown(outcome)).toBe(true);
  });

  test("passes other conflicts and faults through", async () => {
    const { outcome } = await run(CREATE, [conflictNow]);
    expect(conflictOf(outcome)?.outcomeUnknown).toBe(false);
    expect(outcomeUnknown((await run(CREATE, [unavailable("etcd", "no connection")])).outcome)).toBe(false);
  });
});

describe("guards", () => {
  const put = { op: "put", key: "k", value: "" } as const;
  const gone = { op: "delete", key: "k" } as const;
  const cases: { case: string; transaction: Transaction; guarded: boolean }[] = [
    { case: "absent, then put", transaction: { conditions: [absent("k")], writes: [put] }, guarded: true },
    { case: "unchanged, then put", transaction: UPDATE, guarded: true },
    { case: "unchanged, then deleted", transaction: DELETE, guarded: true },
    {
      case: "same incarnation, then deleted",
      transaction: { conditions: [sameIncarnation("k", 5)], writes: [gone] },
      guarded: true,
    },
    {
      case: "unchanged, then deleted by prefix",
      transaction: { ...UPDATE, writes: [{ op: "delete-prefix", prefix: "" }] },
      guarded: true,
    },
    {
      case: "fenced by an owner key that it does not write",
      transaction: { conditions: [sameIncarnation("o", 5)], writes: [put] },
      guarded: false,
    },
    {
      case: "same incarnation, then put: satisfied again",
      transaction: { conditions: [sameIncarnation("k", 5)], writes: [put] },
      guarded: false,
    },
    {
      case: "present, then deleted: may be created again",
      transaction: { conditions: [present("k")], writes: [gone] },
      guarded: false,
    },
    { case: "no conditions", transaction: { writes: [put] }, guarded: false },
  ];
  test.each(cases)("$case: $guarded", ({ transaction, guarded }) => {
    expect(guardsItself(transaction)).toBe(guarded);
  });
});
