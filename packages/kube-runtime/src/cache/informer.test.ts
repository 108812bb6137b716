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
  const told: string[] = [];
  const listen = (): (() => void) =>
    informer.onChange((change) => told.push(`${change.type} ${change.object.metadata.name}`));
  return { informer, source, time: ambient.time, told, listen, openGate: gate.resolve };
}

describe("synced", () => {
  test("means that everything is in the cache and told", async () => {
    const world = setUp();
    world.source.put(thing("a"));
    world.source.put(thing("b"));
    world.listen();
    world.informer.start();
    let toldWhenSynced = -1;
    void world.informer.synced().then(() => (toldWhenSynced = world.told.length));
    await world.time.advance(10);
    expect([world.informer.isSynced, toldWhenSynced]).toEqual([false, -1]);
    world.openGate();
    await world.time.advance(10);
    expect([world.informer.isSynced, toldWhenSynced]).toEqual([true, 2]);
    await world.informer.stop();
  });

  test("stopping before it rejects those who wait, at once, and nobody else", async () => {
    const world = setUp();
    world.informer.start();
    const waiting = expect(world.informer.synced()).rejects.toMatchObject({ kind: "cancelled" });
    await world.time.advance(10);
    await world.informer.stop();
    await waiting;
    expect(world.time.pendingTimers).toBe(0);
    world.informer.start();
    world.openGate();
    await world.time.advance(10);
    expect(world.informer.isSynced).toBe(false);
  });

  test("stays resolved after a stop that came later", async () => {
    const world = setUp();
    world.openGate();
    world.informer.start();
    await world.time.advance(10);
    await world.informer.stop();
    await world.informer.synced();
  });
});

describe("handlers", () => {
  test("deletions that were missed are told after the next list; what did not change is not told again", async () => {
    const world = setUp();
    world.openGate();
    world.source.put(thing("kept"));
    world.source.put(thing("gone"));
    world.listen();
    world.informer.start();
    await world.time.advance(10);
    world.told.length = 0;
    world.source.expire(expired);
    world.source.remove("gone");
    world.source.put(thing("new"));
    await world.time.advance(1000);
    expect(world.told).toEqual(["deleted gone", "added new"]);
    await world.informer.stop();
  });

  test("one that is added while a list is told hears of each object once; one that ended hears no more", async () => {
    const world = setUp();
    world.openGate();
    for (const name of ["a", "b", "c"]) world.source.put(thing(name));
    const late: string[] = [];
    const ended: string[] = [];
    let end = (): void => undefined;
    world.informer.onChange(({ object }) => {
      if (object.metadata.name !== "b") return;
      world.informer.onChange((change) => late.push(change.object.metadata.name));
      end();
    });
    end = world.informer.onChange(({ object }) => ended.push(object.metadata.name));
    world.informer.start();
    await world.time.advance(10);
    expect(late.toSorted()).toEqual(["a", "b", "c"]);
    expect(ended).toEqual(["a"]);
    await world.informer.stop();
  });

  test("one that throws is logged and harms nobody", async () => {
    const logger = createRecordingLogger();
    const world = setUp({ logger: logger.log });
    world.openGate();
    world.informer.onChange(() => {
      throw new Error("broken");
    });
    world.listen();
    world.source.put(thing("a"));
    world.informer.start();
    await world.time.advance(10);
    expect(world.told).toEqual(["added a"]);
    expect(logger.records.some(({ level }) => level === "error")).toBe(true);
    await world.informer.stop();
  });
});

test("trouble is said, counted, and over when the watch goes on", async () => {
  const meter = createRecordingMeter();
  const logger = createRecordingLogger();
  const world = setUp({ meter, logger: logger.log });
  const restarts = (reason: string): number | undefined =>
    meter.value("kube_informer_restarts_total", { informer: "things", reason });
  expect([restarts("broken"), restarts("expired"), restarts("silent")]).toEqual([0, 0, 0]);
  world.openGate();
  world.informer.start();
  await world.time.advance(10);
  expect(world.informer.trouble).toBeUndefined();
  world.source.expire(unavailable("server", "down"));
  await world.time.advance(50);
  expect(world.informer.trouble).toMatchObject({ message: "down" });
  expect(restarts("broken")).toBe(1);
  expect(logger.records.some(({ level }) => level === "warn")).toBe(true);
  await world.time.advance(1000);
  expect(world.informer.trouble).toBeUndefined();
  await world.informer.stop();
});

describe("the pool", () => {
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

  test("gives one informer per kind, selection and view", () => {
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

  test("refuses a second shape of the same informer, and takes the same or none", () => {
    const { pool } = makePool();
    const byName = (object: KubeObject): string[] => [object.metadata.name ?? ""];
    const trim = <T>(object: T): T => object;
    const informer = pool.informer(type, {}, { indexes: { byName }, trim });
    expect(pool.informer(type, {}, { indexes: { byName } })).toBe(informer);
    expect(() => pool.informer(type, {}, { indexes: { byName: () => [] } })).toThrow("byName");
    expect(() => pool.informer(type, {}, { indexes: { other: byName } })).toThrow("other");
    expect(() => pool.informer(type, {}, { trim: (object) => ({ ...object }) })).toThrow("trim");
  });

  test("starts those that are asked for later, and none after it was stopped", async () => {
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
