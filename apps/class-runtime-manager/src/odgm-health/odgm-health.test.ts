import { cancelled, sleep, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import type { ShardGate } from "../state-store/shard-gates.ts";
import { SHARDS_CONDITION, type RunningStore } from "../state-store/running-store.ts";
import type { StoreNode, StoreObject } from "../state-store/store-nodes.ts";
import { OdgmHealth } from "./odgm-health.ts";

type Mood = "answers" | "hangs" | "is away" | "has no quorum" | "acknowledges slowly";

/** A node with two partitions. */
interface Node {
  mood: Mood;
  partitions: number[];
  objects: number;
  podUid: string;
  /** Whether it does not have the newest writes yet. */
  isBehind?: boolean;
}

const INTERVAL_MS = 10_000;

/** Stores of two raft members each with scripted answers, checked every ten seconds on virtual time. */
function lab(names: readonly string[], { nodesPerStore = 2, elsewhere = [] as number[], isRestored = false } = {}) {
  const ambient = virtualAmbient(3);
  const meter = createRecordingMeter();
  const ids = Array.from({ length: nodesPerStore }, (_, index) => index + 1);
  const stores = new Map(
    names.map((name) => [
      name,
      ids.map((id): Node => ({ mood: "answers", partitions: [0, 1], objects: 0, podUid: `${name}-${id}` })),
    ]),
  );
  const woken: string[] = [];
  const writes: string[] = [];
  const gates: ShardGate[] = [];
  const newest = new Map<string, StoreObject>();
  let connections = 0;
  let most = 0;
  let underWay = 0;

  const running = (name: string, nodes: readonly Node[]): RunningStore => ({
    namespace: "shop",
    settings: {},
    settingsCreatedAt: undefined,
    layout: {
      partitions: [0, 1].map((partition) => ({
        collection: "c",
        partition,
        shardType: "raft" as const,
        nodes: [...ids, ...elsewhere],
      })),
    },
    members: nodes.map(({ podUid }, index) => ({
      nodeId: index + 1,
      workload: { name, isManaged: true },
      pod: {
        key: { namespace: "shop", name: `${name}-${index}` },
        uid: podUid,
        isTerminating: false,
        startedAtMs: 0,
        isStopped: false,
        isReady: true,
        isOutdated: false,
        object: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name },
          spec: { readinessGates: [{ conditionType: SHARDS_CONDITION }] },
          status: {
            conditions: gates.flatMap(({ pod, condition }) => (pod.uid === podUid ? [condition] : [])).slice(-1),
          },
        },
      },
    })),
  });

  const answering = async <T>(node: Node, signal: AbortSignal, reply: () => T): Promise<T> => {
    underWay += 1;
    most = Math.max(most, underWay);
    try {
      await sleep(ambient.timers, node.mood === "hangs" ? 60_000 : 10, signal);
      if (node.mood === "is away") throw unavailable("the state store", "connection refused");
      return reply();
    } finally {
      underWay -= 1;
    }
  };

  const openNode = (name: string, index: number): StoreNode => {
    const node = stores.get(name)?.[index];
    if (node === undefined) throw new Error(`no node ${name}-${index}`);
    connections += 1;
    return {
      address: `10.0.0.${index + 1}:8080`,
      shards: (signal) =>
        answering(node, signal, () =>
          node.partitions.map((partition) => ({ collection: "c", partition, shard: partition, objects: node.objects })),
        ),
      capabilities: async () => ["string_ids"],
      list: (_request, signal) =>
        answering(node, signal, () => ({ objects: [{ id: `oaas.health.${name}`, version: 1n, entryCount: 1n }] })),
      get: ({ partition }, signal) =>
        answering(node, signal, () => (node.isBehind ? undefined : newest.get(`${name} ${partition}`))),
      delete: () => Promise.reject(new Error("not used")),
      set: async ({ partition, id }, object, signal) => {
        writes.push(`${name} ${partition} ${id}`);
        if (node.mood === "acknowledges slowly") await sleep(ambient.timers, 60_000, signal);
        await answering(node, signal, () => undefined);
        if (node.mood === "has no quorum") throw unavailable("the state store", "No leader available");
        newest.set(`${name} ${partition}`, object);
      },
      close: () => void (connections -= 1),
    };
  };

  const health = new OdgmHealth({
    ambient,
    meter,
    logger: NOOP_LOGGER,
    everyMs: INTERVAL_MS,
    timeoutMs: 1_000,
    concurrency: 3,
    nodes: {
      open: async ({ name }) => {
        const at = name.lastIndexOf("-");
        return openNode(name.slice(0, at), Number(name.slice(at + 1)));
      },
    },
  });
  health.writeGatesWith(async (changed) => void gates.push(...changed));
  health.follow("class-runtime", () =>
    [...stores].map(([name, nodes]) => ({
      uid: name,
      key: { namespace: "shop", name },
      objectId: `oaas.health.${name}`,
      fingerprint: nodes.map(({ podUid }) => podUid).join(),
      read: () => running(name, nodes),
      lastReading: isRestored ? { healthy: true, checkedAt: "before", details: { writable: true } } : undefined,
    })),
  );
  health.source("class-runtime")(({ name }) => woken.push(name));
  const term = new AbortController();
  const start = () => {
    const over = health.run(term.signal);
    return async (): Promise<void> => {
      term.abort(cancelled());
      await over;
    };
  };
  const node = (name: string, id: number): Node => {
    const found = stores.get(name)?.[id - 1];
    if (found === undefined) throw new Error(`no node ${id} of ${name}`);
    return found;
  };
  const pass = (ms: number): Promise<void> => ambient.time.advance(ms);
  const open = () => connections;
  return { health, start, node, stores, pass, woken, writes, gates, meter, most: () => most, open };
}

describe("a state store is healthy only while it can be written", () => {
  test("is unknown until every partition acknowledged a write", async () => {
    const { health, start, pass, woken, writes } = lab(["a"]);
    const stop = start();
    expect(health.readingOf("a")).toBeUndefined();
    await pass(500);
    expect(health.readingOf("a")).toMatchObject({ healthy: true, details: { writable: true } });
    expect(writes).toEqual(["a 0 oaas.health.a", "a 1 oaas.health.a"]);
    expect(woken).toEqual(["a"]);
    await stop();
  });

  test("writes once per partition and interval, and wakes no class while nothing changes", async () => {
    const { start, pass, node, woken, writes, gates, health, open } = lab(["a"]);
    const stop = start();
    await pass(500);
    const [writesBefore, gatesBefore] = [writes.length, gates.length];
    for (const id of [1, 2]) node("a", id).objects = 500;
    await pass(5 * INTERVAL_MS + 5_000);
    expect(writes.length - writesBefore).toBe(2 * 5);
    expect(gates.length).toBe(gatesBefore);
    expect(woken).toEqual(["a"]);
    expect(health.readingOf("a")?.details?.collections_status?.[0]?.total_objects).toBe(2 * 499);
    expect(open()).toBe(0);
    await stop();
  });

  test.each<{ mood: Mood; reason: string; message: string }>([
    { mood: "has no quorum", reason: "NoQuorum", message: "partition 0 of c acknowledges no writes" },
    { mood: "acknowledges slowly", reason: "NoQuorum", message: "partition 0 of c acknowledges no writes" },
    { mood: "is away", reason: "StoreUnreachable", message: "node 2 does not answer" },
    { mood: "hangs", reason: "StoreUnreachable", message: "node 2 does not answer" },
  ])("reports $reason after one interval when every node $mood", async ({ mood, reason, message }) => {
    const { health, start, pass, node, woken } = lab(["a"]);
    const stop = start();
    await pass(500);
    for (const id of [1, 2]) node("a", id).mood = mood;
    await pass(INTERVAL_MS + 5_000);
    expect(health.readingOf("a")).toMatchObject({ healthy: false, reason });
    expect(health.readingOf("a")?.message).toContain(message);
    expect(woken.length).toBeGreaterThan(1);
    for (const id of [1, 2]) node("a", id).mood = "answers";
    await pass(17 * INTERVAL_MS);
    expect(health.readingOf("a")?.healthy).toBe(true);
    await stop();
  });

  test("is unreachable when a node does not answer although every write is acknowledged", async () => {
    const { health, start, pass, node } = lab(["a"]);
    node("a", 2).mood = "is away";
    const stop = start();
    await pass(2_000);
    expect(health.readingOf("a")).toMatchObject({
      healthy: false,
      reason: "StoreUnreachable",
      message: "node 2 does not answer",
      details: { writable: true },
    });
    await stop();
  });

  test.each([
    { why: "alone", elsewhere: [] },
    { why: "with members in other clusters", elsewhere: [8, 9] },
  ])("names the node and the partition of a missing shard, $why", async ({ elsewhere }) => {
    const { health, start, pass, node, gates } = lab(["a"], { elsewhere });
    node("a", 2).partitions = [1];
    const stop = start();
    await pass(500);
    expect(health.readingOf("a")).toMatchObject({
      healthy: false,
      reason: "ShardMissing",
      message: "node 2 lacks partition 0 of c",
      details: { writable: true, missing_shards: [{ node_id: 2, collection: "c", partition: 0 }] },
    });
    expect(gates.map(({ pod, condition }) => [pod.uid, condition.status])).toEqual([
      ["a-1", "True"],
      ["a-2", "False"],
    ]);
    await stop();
  });

  test("is not writable when no node has a partition", async () => {
    const { health, start, pass, node } = lab(["a"]);
    for (const id of [1, 2]) node("a", id).partitions = [1];
    const stop = start();
    await pass(500);
    expect(health.readingOf("a")?.details?.writable).toBe(false);
    await stop();
  });
});

test("checks a store at once when its pods change, and opens the gate of a node when it has its shards", async () => {
  const { health, start, pass, node, gates } = lab(["a"]);
  const stop = start();
  await pass(500);
  Object.assign(node("a", 2), { podUid: "successor", partitions: [] });
  await pass(1_500);
  expect(health.readingOf("a")?.reason).toBe("ShardMissing");
  node("a", 2).partitions = [0, 1];
  await pass(4_000);
  expect(health.readingOf("a")?.healthy).toBe(true);
  expect(gates.slice(2).map(({ pod, condition }) => [pod.uid, condition.status])).toEqual([
    ["successor", "False"],
    ["successor", "True"],
  ]);
  await stop();
});

test("keeps a restarted node out of service until it has the newest write", async () => {
  const { start, pass, node, gates, health } = lab(["a"]);
  const stop = start();
  await pass(500);
  Object.assign(node("a", 2), { podUid: "successor", isBehind: true });
  await pass(2_000);
  expect(gates.at(-1)).toMatchObject({
    pod: { uid: "successor" },
    condition: { status: "False", reason: "CatchingUp" },
  });
  expect(health.storeReadingOf("a")?.answers[1]?.behind).toEqual({ collection: "c", partition: 0 });
  node("a", 2).isBehind = false;
  await pass(INTERVAL_MS);
  expect(gates.at(-1)).toMatchObject({ pod: { uid: "successor" }, condition: { status: "True" } });
  await stop();
});

test("counts consecutive readings of the same pod without a shard", async () => {
  const { health, start, pass, node } = lab(["a"]);
  node("a", 2).partitions = [0];
  const stop = start();
  await pass(500);
  expect(health.storeReadingOf("a")?.missingReadings.get(2)).toBe(1);
  await pass(3_000);
  expect(health.storeReadingOf("a")?.missingReadings.get(2)).toBe(2);
  node("a", 2).podUid = "successor";
  await pass(1_500);
  expect(health.storeReadingOf("a")?.missingReadings.get(2)).toBe(1);
  await stop();
});

test("asks a store that no node answers for less and less often", async () => {
  const { health, start, pass, node, writes, meter } = lab(["a"], { nodesPerStore: 1 });
  node("a", 1).mood = "is away";
  const stop = start();
  await pass(60 * INTERVAL_MS);
  expect(meter.value("crm_odgm_readings_total", { outcome: "unknown" })).toBeLessThan(15);
  expect(writes).toEqual([]);
  node("a", 1).mood = "answers";
  await pass(17 * INTERVAL_MS);
  expect(health.readingOf("a")?.healthy).toBe(true);
  await stop();
});

test("uses a healthy reading of the status before the first check", async () => {
  const { health, start, pass } = lab(["a"], { isRestored: true });
  const stop = start();
  expect(health.readingOf("a")?.checkedAt).toBe("before");
  await pass(500);
  expect(health.readingOf("a")?.checkedAt).not.toBe("before");
  await stop();
});

test("limits concurrency; a hanging store does not block others; removed ones are forgotten", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `s${n}`);
  const { health, start, pass, node, stores, most } = lab(names, { nodesPerStore: 1 });
  node("s0", 1).mood = "hangs";
  node("s1", 1).mood = "hangs";
  const stop = start();
  await pass(INTERVAL_MS);
  expect(names.slice(2).every((name) => health.readingOf(name)?.healthy)).toBe(true);
  expect(most()).toBeLessThanOrEqual(3 * 2);
  stores.delete("s5");
  await pass(INTERVAL_MS);
  expect(health.readingOf("s5")).toBeUndefined();
  await stop();
});
