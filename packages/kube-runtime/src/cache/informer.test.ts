import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeObject } from "@oaas/kube-core";
import { createRecordingLogger, createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { metadataOf, resourceType } from "../client/resource-type.ts";
import { fakeSource } from "../testing/fake-source.ts";
import { scriptedTransport } from "../testing/scripted-transport.ts";
import { InformerPool } from "./informer-pool.ts";
import { Informer, type InformerOptions } from "./informer.ts";

const thing = (name: string, extra: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, ...extra },
});
const expired = new Fault({ kind: "failed-precondition", subject: "version" }, "too old", {
  context: { expired: true },
});

function setUp(options: Partial<InformerOptions<KubeObject>> = {}) {
  const ambient = virtualAmbient(5);
  const gate = Promise.withResolvers<void>();
  const source = fakeSource<KubeObject>(gate.promise);
  const informer = new Informer<KubeObject>({
    name: "things",
    source,
    ambient,
    watch: { streamingList: false },
    ...options,
  });
  const events: string[] = [];
  const listen = (): (() => void) =>
    informer.onChange((change) => events.push(`${change.type} ${change.object.metadata.name}`));
  return { informer, source, time: ambient.time, events, listen, openGate: gate.resolve };
}

describe("synced", () => {
  test("resolves when the cache is complete and handlers were notified", async () => {
    const fixture = setUp();
    fixture.source.put(thing("a"));
    fixture.source.put(thing("b"));
    fixture.listen();
    fixture.informer.start();
    let eventsWhenSynced = -1;
    void fixture.informer.synced().then(() => (eventsWhenSynced = fixture.events.length));
    await fixture.time.advance(10);
    expect([fixture.informer.isSynced, eventsWhenSynced]).toEqual([false, -1]);
    fixture.openGate();
    await fixture.time.advance(10);
    expect([fixture.informer.isSynced, eventsWhenSynced]).toEqual([true, 2]);
    await fixture.informer.stop();
  });

  test("rejects pending waits at once when the informer stops first", async () => {
    const fixture = setUp();
    fixture.informer.start();
    const waiting = expect(fixture.informer.synced()).rejects.toMatchObject({ kind: "cancelled" });
    await fixture.time.advance(10);
    await fixture.informer.stop();
    await waiting;
    expect(fixture.time.pendingTimers).toBe(0);
    fixture.informer.start();
    fixture.openGate();
    await fixture.time.advance(10);
    expect(fixture.informer.isSynced).toBe(false);
  });

  test("stays resolved after a later stop", async () => {
    const fixture = setUp();
    fixture.openGate();
    fixture.informer.start();
    await fixture.time.advance(10);
    await fixture.informer.stop();
    await fixture.informer.synced();
  });
});

describe("handlers", () => {
  test("notifies handlers of missed deletions after the next list, and not of unchanged objects", async () => {
    const fixture = setUp();
    fixture.openGate();
    fixture.source.put(thing("kept"));
    fixture.source.put(thing("gone"));
    fixture.listen();
    fixture.informer.start();
    await fixture.time.advance(10);
    fixture.events.length = 0;
    fixture.source.expire(expired);
    fixture.source.remove("gone");
    fixture.source.put(thing("new"));
    await fixture.time.advance(1000);
    expect(fixture.events).toEqual(["deleted gone", "added new"]);
    await fixture.informer.stop();
  });

  test("notifies a handler added during a list once per object, and a removed handler no more", async () => {
    const fixture = setUp();
    fixture.openGate();
    for (const name of ["a", "b", "c"]) fixture.source.put(thing(name));
    const late: string[] = [];
    const ended: string[] = [];
    let end = (): void => undefined;
    fixture.informer.onChange(({ object }) => {
      if (object.metadata.name !== "b") return;
      fixture.informer.onChange((change) => late.push(change.object.metadata.name));
      end();
    });
    end = fixture.informer.onChange(({ object }) => ended.push(object.metadata.name));
    fixture.informer.start();
    await fixture.time.advance(10);
    expect(late.toSorted()).toEqual(["a", "b", "c"]);
    expect(ended).toEqual(["a"]);
    await fixture.informer.stop();
  });

  test("logs a throwing handler without affecting the others", async () => {
    const logger = createRecordingLogger();
    const fixture = setUp({ logger: logger.log });
    fixture.openGate();
    fixture.informer.onChange(() => {
      throw new Error("broken");
    });
    fixture.listen();
    fixture.source.put(thing("a"));
    fixture.informer.start();
    await fixture.time.advance(10);
    expect(fixture.events).toEqual(["added a"]);
    expect(logger.records.some(({ level }) => level === "error")).toBe(true);
    await fixture.informer.stop();
  });
});

test("logs and counts watch failures until the watch recovers", async () => {
  const meter = createRecordingMeter();
  const logger = createRecordingLogger();
  const fixture = setUp({ meter, logger: logger.log });
  const restarts = (reason: string): number | undefined =>
    meter.value("kube_informer_restarts_total", { informer: "things", reason });
  expect([restarts("broken"), restarts("expired"), restarts("silent")]).toEqual([0, 0, 0]);
  fixture.openGate();
  fixture.informer.start();
  await fixture.time.advance(10);
  expect(fixture.informer.fault).toBeUndefined();
  fixture.source.expire(unavailable("server", "down"));
  await fixture.time.advance(50);
  expect(fixture.informer.fault).toMatchObject({ message: "down" });
  expect(restarts("broken")).toBe(1);
  expect(logger.records.some(({ level }) => level === "warn")).toBe(true);
  await fixture.time.advance(1000);
  expect(fixture.informer.fault).toBeUndefined();
  await fixture.informer.stop();
});

describe("informer pool", () => {
  const type = resourceType<KubeObject>({
    group: "",
    version: "v1",
    kind: "Thing",
    resource: "things",
    namespaced: true,
  });
  const makePool = () => {
    const ambient = virtualAmbient(2);
    const transport = scriptedTransport(() => "hang");
    const pool = new InformerPool(new KubeClient({ transport, ambient }), { ambient });
    return { pool, transport, time: ambient.time };
  };

  test("shares one informer per kind, selection and view", () => {
    const { pool } = makePool();
    const all = pool.informer(type);
    expect(pool.informer(type)).toBe(all);
    expect(pool.informer(type, {})).toBe(all);
    const others = [
      pool.informer(type, { namespace: "a" }),
      pool.informer(type, { labelSelector: "a" }),
      pool.informer(type, { fieldSelector: "a" }),
      pool.informer(metadataOf(type)),
    ];
    expect(new Set([all, ...others]).size).toBe(5);
    expect(new Set([all, ...others].map(({ name }) => name)).size).toBe(5);
  });

  test("rejects other indexes or another trim for an existing informer", () => {
    const { pool } = makePool();
    const byName = (object: KubeObject): string[] => [object.metadata.name ?? ""];
    const trim = <T>(object: T): T => object;
    const informer = pool.informer(type, {}, { indexes: { byName }, trim });
    expect(pool.informer(type, {}, { indexes: { byName } })).toBe(informer);
    expect(() => pool.informer(type, {}, { indexes: { byName: () => [] } })).toThrow("byName");
    expect(() => pool.informer(type, {}, { indexes: { other: byName } })).toThrow("other");
    expect(() => pool.informer(type, {}, { trim: (object) => ({ ...object }) })).toThrow("trim");
  });

  test("starts informers created later, and none after stop", async () => {
    const { pool, transport, time } = makePool();
    pool.start();
    pool.informer(type);
    await time.advance(0);
    expect(transport.sent).toHaveLength(1);
    expect(pool.unsynced).toHaveLength(1);
    await pool.stop();
    pool.informer(type, { namespace: "late" });
    await time.advance(0);
    expect(transport.sent).toHaveLength(1);
    expect(time.pendingTimers).toBe(0);
  });
});
