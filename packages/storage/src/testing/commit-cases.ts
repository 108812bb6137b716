import { Fault } from "@oaas/foundation";
import { describe, expect } from "vitest";
import { absent, present, sameIncarnation, unchanged } from "../port/transaction.ts";
import { conflictOf } from "../port/store-faults.ts";
import {
  MAX_OPERATIONS,
  type Condition,
  type Entry,
  type KeyValueStore,
  type Transaction,
} from "../port/key-value-store.ts";
import type { SuiteOptions } from "./kv-suite.ts";
import { testWith } from "./using.ts";

const put = (key: string, value = "v"): Transaction["writes"][number] => ({ op: "put", key, value });

/** Cases of commit, get and close. */
export function commitCases(options: SuiteOptions): void {
  const testStore = testWith(options);

  describe("commit", () => {
    testStore("counts versions and keeps the revision of creation", async ({ store }) => {
      const start = await store.revision();
      const { revision: first } = await store.commit({ writes: [put("k", "1")] });
      const { revision: second } = await store.commit({ writes: [put("k", "2")] });
      expect(first).toBeGreaterThan(start);
      expect(second).toBeGreaterThan(first);
      const expected: Entry = { key: "k", value: "2", createRevision: first, modRevision: second, version: 2 };
      expect(await store.get("k")).toEqual(expected);
      await store.commit({ writes: [{ op: "delete", key: "k" }] });
      expect(await store.get("k")).toBeUndefined();
      const { revision: third } = await store.commit({ writes: [put("k", "3")] });
      expect(await store.get("k")).toEqual({
        key: "k",
        value: "3",
        createRevision: third,
        modRevision: third,
        version: 1,
      });
    });

    testStore("applies all writes of a transaction as one revision", async ({ store }) => {
      await store.commit({ writes: [put("old/1"), put("old/2"), put("older"), put("gone")] });
      const { revision, changed } = await store.commit({
        writes: [put("a"), put("b"), { op: "delete", key: "gone" }, { op: "delete-prefix", prefix: "old/" }],
      });
      expect(changed).toBe(true);
      const { entries } = await store.range({ prefix: "" });
      expect(entries.map((entry) => entry.key)).toEqual(["a", "b", "older"]);
      expect(entries.map((entry) => entry.modRevision)).toEqual([revision, revision, revision - 1]);
    });

    testStore("creates no revision without changes", async ({ store }) => {
      const { revision } = await store.commit({ writes: [put("k")] });
      const unchangedResult = { revision, changed: false };
      expect(await store.commit({ writes: [{ op: "delete", key: "none" }] })).toEqual(unchangedResult);
      expect(await store.commit({ writes: [{ op: "delete-prefix", prefix: "none" }] })).toEqual(unchangedResult);
      expect(await store.commit({ conditions: [present("k")], writes: [] })).toEqual(unchangedResult);
    });

    testStore("keeps any well-formed value byte for byte", async ({ store }) => {
      const values = ["", " ", "\0", "a\0b", '{"ü":"\u{1F600}"}', "\uFEFFbom", "x".repeat(1_000_000)];
      for (const value of values) {
        await store.commit({ writes: [put("k", value)] });
        expect((await store.get("k"))?.value).toBe(value);
      }
    });
  });

  describe("conditions", () => {
    testStore("are evaluated, and a failed one is reported with the current state", async ({ store }) => {
      await store.commit({ writes: [put("k", "1")] });
      await store.commit({ writes: [put("k", "2")] });
      const there = (await store.get("k")) as Entry;
      const holding: Condition[] = [
        absent("none"),
        present("k"),
        unchanged(there),
        sameIncarnation("k", there.createRevision),
      ];
      for (const condition of holding) await store.commit({ conditions: [condition], writes: [put("other")] });
      const failing: Condition[] = [
        absent("k"),
        present("none"),
        { key: "k", test: "mod-revision", revision: there.createRevision },
        { key: "none", test: "mod-revision", revision: 1 },
        sameIncarnation("k", there.modRevision),
        sameIncarnation("none", 1),
      ];
      for (const condition of failing) {
        const conflict = await conflictFrom(store, { conditions: [present("other"), condition], writes: [put("x")] });
        expect(conflict, JSON.stringify(condition)).toEqual({
          condition,
          key: condition.key,
          present:
            condition.key === "k"
              ? { modRevision: there.modRevision, createRevision: there.createRevision }
              : undefined,
          outcomeUnknown: false,
        });
      }
      expect(await store.get("x"), "a rejected transaction has no effect").toBeUndefined();
    });

    testStore("concurrent compare-and-set counters lose no increment", async ({ store, connect }) => {
      await store.commit({ writes: [put("count", "0")] });
      const clients = [store, await connect(), await connect(), await connect()];
      let conflicts = 0;
      const count = async (client: KeyValueStore): Promise<void> => {
        for (let done = 0; done < 25;) {
          const entry = (await client.get("count")) as Entry;
          try {
            const next = String(Number(entry.value) + 1);
            await client.commit({ conditions: [unchanged(entry)], writes: [put("count", next)] });
            done += 1;
          } catch (thrown) {
            if (conflictOf(thrown) === undefined) throw thrown;
            conflicts += 1;
          }
        }
      };
      await Promise.all(clients.map(count));
      expect(await store.get("count")).toMatchObject({ value: "100", version: 101 });
      expect(conflicts, "the clients had conflicts").toBeGreaterThan(0);
    });

    testStore("exactly one of many concurrent creates of a key succeeds", async ({ store, connect }) => {
      const clients = await Promise.all(Array.from({ length: 8 }, connect));
      const tries = clients.map((client, index) =>
        client.commit({ conditions: [absent("k")], writes: [put("k", `${index}`), put(`mine/${index}`)] }),
      );
      const failure = (thrown: unknown): string => conflictOf(thrown)?.key ?? Fault.from(thrown).message;
      const outcomes = await Promise.all(tries.map((attempt) => attempt.then(() => "created", failure)));
      expect(outcomes.toSorted()).toEqual(["created", ...Array.from({ length: 7 }, () => "k")]);
      const winner = outcomes.indexOf("created");
      const { entries } = await store.range({ prefix: "" });
      expect(entries.map(({ key, value }) => `${key}=${value}`)).toEqual([`k=${winner}`, `mine/${winner}=v`]);
    });
  });

  describe("invalid transactions", () => {
    testStore("reports all violations of a transaction at once", async ({ store }) => {
      const many = Array.from({ length: MAX_OPERATIONS + 1 }, (_, index) => put(`${index}`));
      const cases: { case: string; transaction: Transaction; paths: string[] }[] = [
        { case: "empty key", transaction: { writes: [put("")] }, paths: ["$.writes[0].key"] },
        { case: "U+0000", transaction: { writes: [put("a\0b")] }, paths: ["$.writes[0].key"] },
        { case: "a lone surrogate", transaction: { writes: [put("\uD800")] }, paths: ["$.writes[0].key"] },
        {
          case: "value with a lone surrogate",
          transaction: { writes: [put("k", "\uDC00")] },
          paths: ["$.writes[0].value"],
        },
        { case: "the same key twice", transaction: { writes: [put("k"), put("k")] }, paths: ["$.writes[1]"] },
        {
          case: "a put under a deleted prefix",
          transaction: { writes: [put("a/b"), put("a-"), { op: "delete-prefix", prefix: "a/" }] },
          paths: ["$.writes[0]"],
        },
        { case: "more operations than etcd allows", transaction: { writes: many }, paths: ["$.writes"] },
        { case: "larger than etcd allows", transaction: { writes: [put("k", "x".repeat(1_400_000))] }, paths: ["$"] },
        {
          case: "invalid revision",
          transaction: { conditions: [sameIncarnation("k", 0)], writes: [put("")] },
          paths: ["$.conditions[0].revision", "$.writes[0].key"],
        },
      ];
      for (const { case: name, transaction, paths } of cases) {
        const fault = await faultOf(store.commit(transaction));
        expect(fault.kind, name).toBe("invalid-argument");
        expect(
          fault.violations.map(({ path }) => path),
          name,
        ).toEqual(paths);
      }
      expect((await store.range({ prefix: "" })).entries).toEqual([]);
    });

    testStore("an aborted call", async ({ store }) => {
      const signal = AbortSignal.abort();
      expect((await faultOf(store.commit({ writes: [put("k")] }, { signal }))).kind).toBe("cancelled");
      expect((await faultOf(store.get("k", { signal }))).kind).toBe("cancelled");
      expect(await store.get("k")).toBeUndefined();
    });

    testStore("all calls after close, which is idempotent", async ({ store, connect }) => {
      const other = await connect();
      await other.commit({ writes: [put("k")] });
      const watched = faultOf(drain(other.watch({ prefix: "", fromRevision: (await other.revision()) + 1 })));
      await other.close();
      await other.close();
      const calls = [
        other.revision(),
        other.get("k"),
        other.getMany(["k"]),
        other.range({ prefix: "" }),
        other.commit({ writes: [put("k")] }),
        other.grantLease({ ttlMs: 5000 }),
        other.compact(1),
        drain(other.watch({ prefix: "", fromRevision: 1 })),
      ];
      for (const fault of [await watched, ...(await Promise.all(calls.map(faultOf)))]) {
        expect(fault).toMatchObject({ kind: "failed-precondition", message: "the store is closed" });
      }
      expect((await store.get("k"))?.value, "other clients are not concerned").toBe("v");
    });
  });
}

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const batch of batches) expect(batch).toBeDefined();
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown: unknown = await work.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (thrown instanceof Fault) return thrown;
  throw thrown as Error;
}

async function conflictFrom(store: KeyValueStore, transaction: Transaction): Promise<unknown> {
  return conflictOf(await faultOf(store.commit(transaction)));
}
