import { conflict, internal, unavailable, type Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { describe, expect, it } from "vitest";
import { measureStore } from "./measured-store.ts";

const METRIC = "pm_store_errors_total";

/** A store that fails with the fault while it is set. */
function setup() {
  const inner = openMemoryStore({ ambient: virtualAmbient(1) });
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
  return { store: measureStore(failing, meter), meter, state };
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
});
