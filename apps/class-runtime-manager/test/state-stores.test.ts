import { eventually } from "@oaas/testkit";
import type { StoreNode } from "@oaas/test-store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RESTARTS_ANNOTATION } from "../src/state-store/restart-record.ts";
import { StoreCluster, type ClassStatus } from "./support/store-cluster.ts";

/*
 * Classes with state on a store that behaves like the real one: everything in memory, fixed members, shards that may not
 * appear, quorum by connected nodes. Time runs ten times as fast.
 */

let cluster: StoreCluster;
beforeEach(async () => {
  cluster = await StoreCluster.start();
});
afterEach(() => cluster[Symbol.asyncDispose]());

const RAFT = { replica_count: 3, shard_type: "raft", partition_count: 2 };
const ONE_COPY = { replica_count: 1, partition_count: 1 };

const odgmReady = ({ conditions = [] }: ClassStatus) => conditions.find(({ type }) => type === "OdgmReady");
const isRunning = (status: ClassStatus): boolean =>
  status.phase === "available" && odgmReady(status)?.status === "True";
const uidsOf = async (name: string): Promise<readonly (string | undefined)[]> =>
  (await cluster.pods(name)).map(({ metadata }) => metadata.uid);
const entries = new Map([["n", { data: new Uint8Array([1]), type: 0 }]]);

async function firstNode(name: string): Promise<StoreNode> {
  return eventually(async () => {
    const [node] = await cluster.nodes(name);
    if (node === undefined) throw new Error("no node runs");
    return node;
  });
}

/** Writes through any node, as functions do; returns whether it was acknowledged. */
async function write(name: string, id: string, partition = 0): Promise<boolean> {
  for (const node of await cluster.nodes(name)) {
    try {
      await node.set({ collection: `shop.${name}`, partition, id }, entries);
      return true;
    } catch {
      // The next node may have a leader.
    }
  }
  return false;
}

/** The ids that every node of the class has. */
async function missingObjects(name: string, ids: readonly string[]): Promise<readonly string[]> {
  const nodes = await cluster.nodes(name);
  const lost: string[] = [];
  for (const id of ids) {
    const found = await Promise.all(
      nodes.map((node) =>
        node.get({ collection: `shop.${name}`, partition: 0, id }).then(
          () => true,
          () => false,
        ),
      ),
    );
    if (!found.includes(true)) lost.push(id);
  }
  return lost;
}

test("runs only when every partition acknowledged a write, and then writes nothing while nothing changes", async () => {
  await cluster.startManager();
  await cluster.applyClass("cart", RAFT);
  const status = await cluster.waitFor("cart", "Running", isRunning);
  expect(status.odgm_cluster_status).toMatchObject({ writable: true, ready: true, ready_replicas: 3 });
  expect(status.odgm_cluster_status?.collections_status).toMatchObject([{ ready_shards: 6, total_objects: 0 }]);
  expect(status.odgm_cluster_status?.restart).toBeUndefined();
  const conditions = (await cluster.pods("cart")).map((pod) => pod.status?.conditions ?? []);
  for (const of of conditions)
    expect(of).toContainEqual(expect.objectContaining({ type: "oaas.io/shards", status: "True" }));
  const node = await firstNode("cart");
  expect([...node.shards].length).toBe(2);
  cluster.writes.splice(0);
  await cluster.pass(30_000);
  expect(cluster.writes).toEqual([]);
});

test("is not Running without a quorum, although pods, reads and statistics are fine", async () => {
  await cluster.startManager();
  await cluster.applyClass("cart", RAFT);
  await cluster.waitFor("cart", "Running", isRunning);
  const uids = await uidsOf("cart");
  await cluster.pass(60_000);
  const cut = cluster.network.cut(() => true);
  const lost = await cluster.waitFor("cart", "NoQuorum", ({ reason }) => reason === "NoQuorum");
  expect(odgmReady(lost)).toMatchObject({ status: "False", reason: "NoQuorum" });
  expect(lost).toMatchObject({ phase: "degraded", odgm_cluster_status: { writable: false, ready: false } });
  expect(lost.conditions).toContainEqual(expect.objectContaining({ type: "Available", status: "False" }));
  expect(await write("cart", "a")).toBe(false);
  cut.heal();
  await cluster.waitFor("cart", "Running again", isRunning);
  expect(await uidsOf("cart")).toEqual(uids);
});

test("names a missing shard, and restarts its node alone until it has it", async () => {
  await cluster.startManager();
  await cluster.applyClass("cart", RAFT);
  await cluster.waitFor("cart", "Running", isRunning);
  expect(await write("cart", "a")).toBe(true);
  const uids = await uidsOf("cart");
  const [, second] = await cluster.nodes("cart");
  await cluster.pass(60_000);
  second?.dropShard("shop.cart", 1);
  const short = await cluster.waitFor("cart", "ShardMissing", ({ reason }) => reason === "ShardMissing");
  expect(short.odgm_cluster_status).toMatchObject({
    missing_shards: [{ node_id: second?.id, collection: "shop.cart", partition: 1 }],
    writable: true,
  });
  expect(short.message).toContain(`node ${second?.id} lacks partition 1 of shop.cart`);
  await eventually(async () => expect((await uidsOf("cart"))[1]).not.toBe(uids[1]), { timeoutMs: 30_000 });
  await cluster.waitFor("cart", "Running again", isRunning);
  expect((await uidsOf("cart")).filter((uid) => !uids.includes(uid))).toHaveLength(1);
  expect(await missingObjects("cart", ["a"])).toEqual([]);
  // The attempts are forgotten when the node is complete.
  await eventually(async () =>
    expect((await cluster.readClass("cart")).metadata.annotations?.[RESTARTS_ANNOTATION]).toBeUndefined(),
  );
});

test("a new template restarts one node after the other and keeps every acknowledged object, over a change of managers", async () => {
  const stopFirst = await cluster.startManager();
  await cluster.applyClass("cart", RAFT);
  await cluster.waitFor("cart", "Running", isRunning);
  const before = await uidsOf("cart");
  await stopFirst();
  const stopSecond = await cluster.startManager({ image: "example.test/odgm:2" });
  const acknowledged: string[] = [];
  const writing = new AbortController();
  let mostAbsent = 0;
  const writer = (async () => {
    for (let n = 0; !writing.signal.aborted; n += 1) {
      if (await write("cart", `o${n}`)) acknowledged.push(`o${n}`);
      mostAbsent = Math.max(mostAbsent, 3 - (await cluster.nodes("cart")).length);
      await cluster.pass(200);
    }
  })();
  await eventually(async () => expect(await uidsOf("cart")).not.toEqual(before), { timeoutMs: 30_000 });
  await stopSecond();
  await cluster.startManager({ image: "example.test/odgm:2" });
  await cluster.waitFor(
    "cart",
    "the new template",
    (status) => isRunning(status) && status.odgm_cluster_status?.restart === undefined,
  );
  await eventually(async () => expect((await uidsOf("cart")).filter((uid) => before.includes(uid))).toEqual([]), {
    timeoutMs: 60_000,
    what: "all nodes to restart",
  });
  await cluster.waitFor("cart", "Running", isRunning);
  writing.abort();
  await writer;
  expect(mostAbsent).toBe(1);
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(await missingObjects("cart", acknowledged)).toEqual([]);
});

test("one copy in memory is not restarted for a new template until the class allows it, and then once", async () => {
  const stop = await cluster.startManager();
  await cluster.applyClass("cart", ONE_COPY);
  await cluster.waitFor("cart", "Running", isRunning);
  expect(await write("cart", "a")).toBe(true);
  const uids = await uidsOf("cart");
  await stop();
  await cluster.startManager({ image: "example.test/odgm:2" });
  const refused = await cluster.waitFor("cart", "a refusal", ({ conditions = [] }) =>
    conditions.some(({ type, status }) => type === "RestartRefused" && status === "True"),
  );
  expect(refused.odgm_cluster_status?.restart).toMatchObject({ state: "Refused", reason: "TemplateChanged" });
  expect(refused.odgm_cluster_status?.restart?.message).toMatch(/odgm\.allow_restart.*oaas state copy/);
  await cluster.pass(30_000);
  expect(await uidsOf("cart")).toEqual(uids);
  expect(await missingObjects("cart", ["a"])).toEqual([]);
  await cluster.applyClass("cart", { ...ONE_COPY, allow_restart: true });
  await eventually(async () => expect(await uidsOf("cart")).not.toEqual(uids), { timeoutMs: 30_000 });
  await cluster.waitFor(
    "cart",
    "Running",
    (status) => isRunning(status) && status.odgm_cluster_status?.restart === undefined,
  );
  const restarted = await uidsOf("cart");
  await cluster.pass(60_000);
  expect(await uidsOf("cart")).toEqual(restarted);
});

test("another route waits for the next restart, and is said in the status", async () => {
  await cluster.startManager();
  await cluster.applyClass("cart", ONE_COPY);
  await cluster.waitFor("cart", "Running", isRunning);
  expect(await write("cart", "a")).toBe(true);
  const uids = await uidsOf("cart");
  // Kubernetes times have seconds.
  await cluster.pass(5_000);
  await cluster.applyClass("cart", { ...ONE_COPY, log: "debug" });
  const { odgm_cluster_status: odgm } = await cluster.waitFor(
    "cart",
    "pending settings",
    (status) => status.odgm_cluster_status?.restart?.state === "Pending",
  );
  expect(odgm?.restart).toMatchObject({ reason: "SettingsChanged", nodes: [expect.any(Number)] });
  expect(isRunning((await cluster.readClass("cart")).status ?? {})).toBe(true);
  await cluster.pass(30_000);
  expect(await uidsOf("cart")).toEqual(uids);
  expect(await missingObjects("cart", ["a"])).toEqual([]);
  await cluster.applyClass("cart", { ...ONE_COPY, log: "debug", allow_restart: true });
  await eventually(async () => expect(await uidsOf("cart")).not.toEqual(uids), { timeoutMs: 30_000 });
  await cluster.waitFor(
    "cart",
    "Running",
    (status) => isRunning(status) && status.odgm_cluster_status?.restart === undefined,
  );
});
