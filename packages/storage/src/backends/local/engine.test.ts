import { Fault, internal, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { absent } from "../../port/transaction.ts";
import { fullFault } from "../../port/store-faults.ts";
import type { Entry, WatchBatch } from "../../port/key-value-store.ts";
import { openMemoryStore } from "../memory/index.ts";
import { MemoryTable } from "../memory/memory-table.ts";
import { LocalEngine } from "./engine.ts";
import { DEFAULT_HISTORY } from "./history.ts";
import { shareEngine } from "./shared-store.ts";
import { FIRST_REVISION } from "./table.ts";

/** A table that counts its durable writes and fails on command with a rollback. */
class FailingTable extends MemoryTable {
  units = 0;
  override fault: Fault | undefined = undefined;
  override savedRevision = FIRST_REVISION;
  fail: ((keys: readonly string[]) => Error | undefined) | undefined;
  #touched: { key: string; before: Entry | undefined }[] = [];

  override put(entry: Entry, isNew: boolean): void {
    this.#touched.push({ key: entry.key, before: this.get(entry.key) });
    super.put(entry, isNew);
  }

  override atomically<T>(work: () => T): T {
    this.units += 1;
    this.#touched = [];
    const result = super.atomically(work);
    const failure = this.fail?.(this.#touched.map(({ key }) => key));
    if (failure === undefined) return result;
    for (const { key, before } of this.#touched.toReversed()) {
      if (before === undefined) this.delete(key);
      else super.put(before, false);
    }
    throw failure;
  }
}

function createFailingEngine() {
  const table = new FailingTable();
  const ambient = virtualAmbient(1);
  let flush: (() => void) | undefined;
  const engine = new LocalEngine({ ambient, table, history: DEFAULT_HISTORY, schedule: (work) => (flush = work) });
  const put = (key: string, value = "v") => engine.commit({ writes: [{ op: "put", key, value }] });
  return { engine, table, put, flush: () => flush?.() };
}

describe("group commit", () => {
  test("queued commits share one durable write, each with its own revision and conditions", async () => {
    const { engine, table, put, flush } = createFailingEngine();
    const commits = [
      put("a"),
      engine.commit({ conditions: [absent("a")], writes: [{ op: "put", key: "a", value: "second" }] }),
      put("b"),
      put("a", "third"),
    ];
    const outcomes = Promise.allSettled(commits);
    flush();
    expect(await outcomes).toMatchObject([
      { status: "fulfilled", value: { revision: 2 } },
      { status: "rejected", reason: { kind: "conflict" } },
      { status: "fulfilled", value: { revision: 3 } },
      { status: "fulfilled", value: { revision: 4 } },
    ]);
    expect(table.units).toBe(1);
    expect(table.get("a")).toMatchObject({ value: "third", version: 2, createRevision: 2 });
  });

  test("acknowledges and delivers nothing before it is durable, and a failed write has no effect", async () => {
    const { engine, table, put, flush } = createFailingEngine();
    table.fail = () => fullFault("the disk", undefined);
    const outcome = expect(put("a")).rejects.toMatchObject({ code: "OAAS_STORE_FULL" });
    flush();
    await outcome;
    expect(engine.history.revision).toBe(1);
    expect(table.get("a")).toBeUndefined();
    table.fail = undefined;
    const after = put("a");
    flush();
    expect(await after).toEqual({ revision: 2, changed: true });
  });

  test("one failing transaction does not affect the others", async () => {
    const { table, put, flush } = createFailingEngine();
    table.fail = (keys) => (keys.includes("big") ? fullFault("the disk", undefined) : undefined);
    const outcomes = Promise.allSettled([put("a"), put("big"), put("b")]);
    flush();
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(["a", "big", "b"].map((key) => table.get(key)?.modRevision)).toEqual([2, undefined, 3]);
  });

  test("rejects everything after the table was found damaged", async () => {
    const { engine, table, put, flush } = createFailingEngine();
    table.fail = () => internal("damaged", { code: "OAAS_STORE_CORRUPT", context: { damaged: true } });
    const outcomes = Promise.allSettled([put("a"), put("b")]);
    flush();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(() => engine.assertOpen()).toThrow(Fault);
    await expect(async () => put("c")).rejects.toMatchObject({ code: "OAAS_STORE_CORRUPT" });
  });
});

describe("a table that cannot be used for a while", () => {
  const lost = unavailable("the disk", "I/O error", { context: { outcomeUnknown: true } });
  const failing = () => {
    const under = createFailingEngine();
    under.table.fail = () => {
      under.table.fault = unavailable("the disk", "it is being opened again");
      return lost;
    };
    return under;
  };

  test("rejects a failed batch with an unknown outcome, and does not apply it again", async () => {
    const { table, put, flush } = failing();
    const outcomes = Promise.allSettled([put("a"), put("b")]);
    flush();
    expect((await outcomes).map((each) => each.status === "rejected" && each.reason === lost)).toEqual([true, true]);
    expect(table.units).toBe(1);
    await expect(async () => put("c")).rejects.toThrow("it is being opened again");
  });

  test("continues at the same revision when it is usable again", async () => {
    const { engine, table, put, flush } = failing();
    const outcome = put("a").catch(() => undefined);
    flush();
    await outcome;
    expect(() => engine.assertUsable()).toThrow("it is being opened again");
    expect(engine.isOpen, "watches continue").toBe(true);
    table.fail = table.fault = undefined;
    const after = put("a");
    flush();
    expect(await after).toEqual({ revision: 2, changed: true });
  });

  test("ends watches and leases after a restart with another revision", async () => {
    const { engine, table } = createFailingEngine();
    const handle = shareEngine(engine, virtualAmbient(1), 1_000);
    const watch = handle.watch({ prefix: "", fromRevision: 2 })[Symbol.asyncIterator]();
    const next = watch.next();
    const lease = await handle.grantLease({ ttlMs: 60_000 });
    table.savedRevision = 5;
    engine.restart();
    await expect(next).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED" });
    expect(engine.leases.has(lease.id)).toBe(false);
    expect(await handle.revision()).toBe(5);
    await handle.close();
  });
});

describe("bounded history", () => {
  test("a watcher that falls behind gets a fault and can continue from a new list", async () => {
    const ambient = virtualAmbient(1);
    const store = openMemoryStore({ ambient, history: { revisions: 10, characters: 1_000_000 } });
    const put = (value: string) => store.commit({ writes: [{ op: "put", key: "k", value }] });
    const { revision } = await put("0");
    const iterator = store.watch({ prefix: "k", fromRevision: revision })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ revision });
    for (let n = 1; n <= 50; n += 1) await put(String(n));
    await expect(iterator.next()).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED" });
    const list = await store.range({ prefix: "k" });
    const again = store.watch({ prefix: "k", fromRevision: list.revision + 1 })[Symbol.asyncIterator]();
    await put("51");
    expect(((await again.next()).value as WatchBatch).events).toMatchObject([{ entry: { value: "51" } }]);
  });

  test("is also bounded by size, and always keeps the last transaction", async () => {
    const store = openMemoryStore({ ambient: virtualAmbient(1), history: { revisions: 1000, characters: 100 } });
    for (let n = 0; n < 5; n += 1) await store.commit({ writes: [{ op: "put", key: "k", value: "x".repeat(300) }] });
    const last = await store.revision();
    await expect(store.get("k", { atRevision: last - 2 })).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED" });
    expect(await store.get("k", { atRevision: last - 1 })).toMatchObject({ modRevision: last - 1 });
  });
});

describe("deferred notifications", () => {
  test("deliver all pending changes at once, one batch per transaction", async () => {
    const notifications: (() => void)[] = [];
    const store = openMemoryStore({
      ambient: virtualAmbient(1),
      scheduleNotify: (notify) => notifications.push(notify),
    });
    const watch = store.watch({ prefix: "k", fromRevision: 2 })[Symbol.asyncIterator]();
    const next = watch.next();
    let delivered = false;
    void next.then(() => (delivered = true));
    for (const value of ["1", "2"]) await store.commit({ writes: [{ op: "put", key: "k", value }] });
    expect(delivered).toBe(false);
    expect(notifications).toHaveLength(1);
    notifications[0]?.();
    expect(((await next).value as WatchBatch).events).toMatchObject([{ entry: { value: "1" } }]);
    expect(((await watch.next()).value as WatchBatch).events).toMatchObject([{ entry: { value: "2" } }]);
    await store.commit({ writes: [{ op: "put", key: "k", value: "3" }] });
    expect(notifications).toHaveLength(2);
    await store.close();
  });
});

describe("bookmarks", () => {
  test("are sent for changes outside the range, also under load, and not without changes", async () => {
    const ambient = virtualAmbient(1);
    const store = openMemoryStore({ ambient, bookmarkMs: 1000 });
    const batches: WatchBatch[] = [];
    const ending = new AbortController();
    const watching = (async () => {
      for await (const batch of store.watch({ prefix: "mine", fromRevision: 2, signal: ending.signal }))
        batches.push(batch);
    })();
    await ambient.time.advance(5000);
    expect(batches).toEqual([]);
    for (let n = 0; n < 21; n += 1) {
      await store.commit({ writes: [{ op: "put", key: "other", value: "" }] });
      await ambient.time.advance(100);
    }
    expect(batches.length).toBe(2);
    for (const bookmark of batches) expect(bookmark.events).toEqual([]);
    await ambient.time.advance(5000);
    expect(batches.at(-1)).toEqual({ revision: 22, events: [] });
    expect(batches.length).toBe(3);
    ending.abort();
    await watching;
    expect(ambient.time.pendingTimers, "no timer is left").toBe(0);
  });
});

describe("expired leases of a table that cannot delete", () => {
  test("lose their keys as soon as the table can delete", async () => {
    const table = new FailingTable();
    const ambient = virtualAmbient(1);
    const engine = new LocalEngine({ ambient, table, history: DEFAULT_HISTORY });
    const lease = engine.leases.grant(500);
    await engine.commit({ writes: [{ op: "put", key: "k", value: "", lease }] });
    table.fail = () => fullFault("the disk", undefined);
    table.delete = () => {
      throw fullFault("the disk", undefined);
    };
    await ambient.time.advance(3000);
    expect(table.get("k")).toBeDefined();
    table.fail = undefined;
    Reflect.deleteProperty(table, "delete");
    await ambient.time.advance(1000);
    expect(table.get("k")).toBeUndefined();
  });
});
