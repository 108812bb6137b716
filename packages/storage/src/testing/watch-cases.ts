import { describe, expect } from "vitest";
import type { KeyValueStore, WatchBatch } from "../port/key-value-store.ts";
import type { SuiteOptions } from "./kv-suite.ts";
import { testWith } from "./using.ts";
import { take } from "./waiting.ts";

const put = (store: KeyValueStore, key: string, value = "v"): Promise<{ revision: number }> =>
  store.commit({ writes: [{ op: "put", key, value }] });

/** Cases of watch. */
export function watchCases(options: SuiteOptions): void {
  const testStore = testWith(options);

  describe("watch", () => {
    testStore("delivers complete transactions of the range, starting with history", async ({ store }) => {
      const { revision: first } = await put(store, "w/1", "one");
      await put(store, "x");
      const { revision: second } = await store.commit({
        writes: [
          { op: "put", key: "w/2", value: "two" },
          { op: "put", key: "y", value: "" },
          { op: "delete", key: "w/1" },
        ],
      });
      const batches = take(store.watch({ prefix: "w/", fromRevision: first, withPrevious: true }), 3);
      const { revision: third } = await store.commit({ writes: [{ op: "delete-prefix", prefix: "w" }] });
      const one = { key: "w/1", value: "one", createRevision: first, modRevision: first, version: 1 };
      const two = { key: "w/2", value: "two", createRevision: second, modRevision: second, version: 1 };
      expect(await batches).toEqual([
        { revision: first, events: [{ type: "put", entry: one }] },
        {
          revision: second,
          events: [
            { type: "put", entry: two },
            { type: "delete", key: "w/1", revision: second, previous: one },
          ],
        },
        { revision: third, events: [{ type: "delete", key: "w/2", revision: third, previous: two }] },
      ]);
    });

    testStore(
      "delivers the same changes in the same order with and without batching, and splits no transaction",
      async ({ store }) => {
        const { revision: first } = await put(store, "k/0", "0");
        for (let n = 1; n < 400; n += 1)
          await store.commit({
            writes: [
              { op: "put", key: `k/${n % 5}`, value: String(n) },
              { op: "put", key: `k/x${n % 3}`, value: String(n) },
            ],
          });
        const last = await store.revision();
        const until = async (gathered: boolean): Promise<readonly WatchBatch[]> => {
          const batches: WatchBatch[] = [];
          for await (const batch of store.watch({ prefix: "k/", fromRevision: first, batched: gathered })) {
            batches.push(batch);
            if (batch.revision >= last) break;
          }
          return batches;
        };
        const [whole, single] = [await until(true), await until(false)];
        expect(whole.flatMap(({ events }) => events)).toEqual(single.flatMap(({ events }) => events));
        for (const { revision, events } of whole) {
          expect(events.at(-1)).toMatchObject({ entry: { modRevision: revision } });
          expect(events.length % 2, "each but the first transaction has two").toBe(
            events[0] === whole[0]?.events[0] ? 1 : 0,
          );
        }
      },
    );

    testStore("includes previous entries only on request", async ({ store }) => {
      const { revision } = await put(store, "k", "1");
      await put(store, "k", "2");
      await store.commit({ writes: [{ op: "delete", key: "k" }] });
      const batches = await take(store.watch({ prefix: "k", fromRevision: revision }), 3);
      for (const event of batches.flatMap((batch) => batch.events)) expect(event).not.toHaveProperty("previous");
    });

    testStore("a list and a watch from its revision have no gap and no duplicate", async ({ store, connect }) => {
      const writers = [await connect(), await connect()];
      const writing = Promise.all(
        writers.map(async (writer, index) => {
          for (let n = 0; n < 60; n += 1) await put(writer, `w/${index}/${n % 7}`, String(n));
        }),
      );
      const observed = new Map<string, string>();
      const page = await store.range({ prefix: "w/" });
      for (const entry of page.entries) observed.set(entry.key, entry.value);
      const ending = new AbortController();
      let revision = page.revision;
      const watching = (async () => {
        const query = { prefix: "w/", fromRevision: page.revision + 1, signal: ending.signal };
        for await (const batch of store.watch(query)) {
          expect(batch.revision).toBeGreaterThan(revision);
          revision = batch.revision;
          for (const event of batch.events) if (event.type === "put") observed.set(event.entry.key, event.entry.value);
          if (batch.events.some((event) => event.type === "delete")) break;
        }
      })();
      await writing;
      await put(store, "w/end");
      await store.commit({ writes: [{ op: "delete", key: "w/end" }] });
      await watching;
      observed.delete("w/end");
      const truth = (await store.range({ prefix: "w/" })).entries.map((entry) => [entry.key, entry.value] as const);
      expect(Object.fromEntries(observed)).toEqual(Object.fromEntries(truth));
    });

    testStore("a paused reader receives everything", async ({ store, connect }) => {
      const reader = await connect();
      const { revision } = await put(store, "s", "0");
      const iterator = reader.watch({ prefix: "s", fromRevision: revision })[Symbol.asyncIterator]();
      expect((await iterator.next()).value).toMatchObject({ revision });
      for (let n = 1; n <= 300; n += 1) await put(store, "s", String(n));
      const values: string[] = [];
      while (values.length < 300) {
        const batch = (await iterator.next()).value as WatchBatch;
        for (const event of batch.events) if (event.type === "put") values.push(event.entry.value);
      }
      expect(values).toEqual(Array.from({ length: 300 }, (_, index) => String(index + 1)));
      await iterator.return?.();
    });

    testStore("ends without an error when its signal aborts, before or during the wait", async ({ store }) => {
      const fromRevision = (await store.revision()) + 1;
      const aborted = store.watch({ prefix: "", fromRevision, signal: AbortSignal.abort() });
      expect(await all(aborted)).toEqual([]);
      const caller = new AbortController();
      const waiting = all(store.watch({ prefix: "", fromRevision, signal: caller.signal }));
      await put(store, "k");
      caller.abort();
      expect((await waiting).length).toBeLessThanOrEqual(1);
    });

    testStore("reports a compacted revision", async ({ store }) => {
      const { revision } = await put(store, "k", "1");
      await put(store, "k", "2");
      const { revision: last } = await put(store, "k", "3");
      await store.compact(last);
      const tooOld = all(store.watch({ prefix: "", fromRevision: revision }));
      await expect(tooOld).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED", kind: "failed-precondition" });
      const { revision: next } = await put(store, "k", "4");
      const batches = await take(store.watch({ prefix: "", fromRevision: last + 1 }), 1);
      expect(batches).toMatchObject([{ revision: next }]);
    });

    testStore("rejects invalid queries immediately", async ({ store }) => {
      expect(() => store.watch({ prefix: "", fromRevision: 0 })).toThrow(/fromRevision/);
      expect(() => store.watch({ prefix: "\0", fromRevision: 1 })).toThrow(/prefix/);
    });
  });
}

async function all(batches: AsyncIterable<WatchBatch>): Promise<WatchBatch[]> {
  const found: WatchBatch[] = [];
  for await (const batch of batches) found.push(batch);
  return found;
}
