import { conflict, internal, unavailable, type Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import { absent, type KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { describe, expect, it } from "vitest";
import { measureStore } from "./measured-store.ts";

const METRIC = "pm_store_errors_total";

/** A store that fails with the fault while it is set. */
function setup() {
  const { time, ...ambient } = virtualAmbient(1);
  const inner = openMemoryStore({ ambient });
  const state: { fault?: Fault } = {};
  const failing = new Proxy(inner, {
    get: (target, name: keyof KeyValueStore) => {
      const { fault } = state;
      if (fault === undefined || name === "close") return target[name].bind(target);
      if (name === "watch") return () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(fault) }) });
      return () => Promise.reject(fault);
    },
  });
  const meter = createRecordingMeter();
  const store = measureStore(failing, { meter, clock: ambient.clock, backend: "memory" });
  return { store, meter, state, time };
}

const put = { writes: [{ op: "put", key: "a", value: "1" }] } as const;
const calls: readonly [string, (store: KeyValueStore) => Promise<unknown>][] = [
  ["revision", (store) => store.revision()],
  ["get", (store) => store.get("a")],
  ["getMany", (store) => store.getMany(["a"])],
  ["range", (store) => store.range({ prefix: "" })],
  ["commit", (store) => store.commit(put)],
  ["watch", (store) => store.watch({ prefix: "", fromRevision: 1 })[Symbol.asyncIterator]().next()],
  ["grantLease", (store) => store.grantLease({ ttlMs: 1_000, keepAlive: false })],
  ["compact", (store) => store.compact(1)],
];

describe("measureStore", () => {
  it.each(calls)("counts a failed %s by its kind, and passes the fault on", async (operation, call) => {
    const { store, meter, state } = setup();
    state.fault = unavailable("etcd", "connection refused");
    await expect(call(store)).rejects.toBe(state.fault);
    expect(meter.value(METRIC, { operation, kind: "unavailable" })).toBe(1);
    state.fault = internal("disk I/O error");
    await expect(call(store)).rejects.toBe(state.fault);
    expect(meter.value(METRIC, { operation, kind: "internal" })).toBe(1);
  });

  it("does not count answers: results and conflicts", async () => {
    const { store, meter, state } = setup();
    await store.commit(put);
    expect(await store.get("a")).toMatchObject({ value: "1" });
    state.fault = conflict("key", "a");
    await expect(store.commit(put)).rejects.toBe(state.fault);
    for (const kind of ["unavailable", "internal"]) {
      for (const operation of ["get", "commit"]) expect(meter.value(METRIC, { operation, kind })).toBe(0);
    }
    await store.close();
  });

  it("ends a watch when its reader stops", async () => {
    const { store } = setup();
    const { revision } = await store.commit(put);
    for await (const { events } of store.watch({ prefix: "", fromRevision: revision })) {
      expect(events).toHaveLength(1);
      break;
    }
    await store.close();
  });

  it("measures the duration of operations by backend, failed ones included", async () => {
    const { store, meter, state } = setup();
    await store.get("a");
    state.fault = unavailable("etcd", "connection refused");
    await expect(store.get("a")).rejects.toBe(state.fault);
    expect(meter.observations("pm_store_operation_seconds", { operation: "get", backend: "memory" })).toEqual([0, 0]);
  });

  it("counts conflicts of transactions", async () => {
    const { store, meter } = setup();
    await store.commit({ ...put, conditions: [absent("a")] });
    await expect(store.commit({ ...put, conditions: [absent("a")] })).rejects.toThrow();
    expect(meter.value("pm_store_conflicts_total")).toBe(1);
  });

  it("reads the size after a commit, at most every 30 seconds", async () => {
    const { store, meter, time } = setup();
    const size = (): number | undefined => meter.value("pm_store_size_bytes", { backend: "memory" });
    await time.advance(0);
    expect(size()).toBe(0);
    await store.commit(put);
    await time.advance(0);
    expect(size()).toBe(0);
    await time.advance(30_000);
    await store.commit({ writes: [{ op: "put", key: "bb", value: "22" }] });
    await time.advance(0);
    expect(size()).toBe("a1".length + "bb22".length);
  });

  it("measures how late own writes reach a watch, once per write and watch", async () => {
    const { store, meter, time } = setup();
    const { revision } = await store.commit(put);
    await time.advance(250);
    const watch = store.watch({ prefix: "", fromRevision: revision })[Symbol.asyncIterator]();
    await watch.next();
    expect(meter.observations("pm_store_watch_lag_seconds")).toEqual([0.25]);
    const next = watch.next();
    await store.commit({ writes: [{ op: "put", key: "b", value: "2" }] });
    await next;
    expect(meter.observations("pm_store_watch_lag_seconds")).toEqual([0.25, 0]);
    await watch.return?.();
    await store.close();
  });
});
