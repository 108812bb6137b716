import { failedPrecondition, type Fault, invalidArgument, notFound, unavailable } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { expect, test } from "vitest";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { ClusterDirectory, StateGateway } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { ClusterStateObjects } from "./state-objects.ts";

const KEY = "cart" as DeploymentKey;
const { signal } = new AbortController();
const ODGM = {
  collections: ["shop.Cart", "shop.Log"],
  partitionCount: 40,
  replicaCount: 2,
  shardType: "raft",
  nodeIds: { a: [1], b: [2], c: [3] },
  assignments: { "shop.Cart": [{ primary: 1, replica: [2, 1], shardIds: [1, 2] }] },
};
const AT = { collection: "shop.Cart", partition: 0, objectId: "x" };

/** Faults of clusters, by name; other clusters return an object, and list one in partition 39. */
function setUp(faults: Readonly<Record<string, Fault>> = {}, odgm: object | "none" = ODGM) {
  const asked: string[] = [];
  const answer = <T>(cluster: string, value: T): T => {
    asked.push(cluster);
    if (faults[cluster] !== undefined) throw faults[cluster];
    return value;
  };
  const gateway: StateGateway = {
    stateObjects: async (cluster, _unit, { partition }) =>
      answer(cluster, { objects: partition === 39 ? [{ objectId: "x", version: 1, entryCount: 0 }] : [] }),
    stateObject: async (cluster) => answer(cluster, { version: 7, entries: new Map() }),
    setStateObject: async (cluster) => answer(cluster, undefined),
    deleteStateObject: async (cluster) => answer(cluster, undefined),
  };
  const placements = Object.fromEntries(
    ["c", "b", "a"].map((name) => [name, { unitId: `cart-${name}`, state: "wanted" }]),
  );
  const state = new ClusterStateObjects({
    record: async (key) => (key === KEY ? ({ placements } as unknown as DeploymentRecord) : undefined),
    planOf: async () => (odgm === "none" ? {} : { odgm }) as unknown as DeploymentPlan,
    clusters: { get: (name: string) => ({ name }), list: () => [] } as unknown as ClusterDirectory,
    gateway,
  });
  return { state, asked };
}

const none = unavailable("the state store", "no node responds");
const elsewhere = failedPrecondition("the partition", "is held by other clusters");

test("asks the cluster of the first replica first, and only clusters that hold the partition", async () => {
  const { state, asked } = setUp({ b: none });
  expect(await state.get(KEY, AT, { signal })).toMatchObject({ cluster: "a", version: 7 });
  expect(asked).toEqual(["b", "a"]);
});

test("asks every cluster when the plan has no assignments for the collection", async () => {
  const { state, asked } = setUp({ a: elsewhere, b: elsewhere });
  expect(await state.set(KEY, { ...AT, collection: "shop.Log" }, new Map(), { signal })).toBe("c");
  expect(asked).toEqual(["a", "b", "c"]);
});

test.each([
  { why: "the object does not exist", fault: notFound("object", "x") },
  { why: "the request is invalid", fault: invalidArgument("the request", []) },
])("does not ask another cluster when $why", async ({ fault }) => {
  const { state, asked } = setUp({ b: fault });
  await expect(state.delete(KEY, AT, { signal })).rejects.toBe(fault);
  expect(asked).toEqual(["b"]);
});

test("reports the fault that may pass when all clusters fail", async () => {
  const { state } = setUp({ b: elsewhere, a: none });
  await expect(state.get(KEY, AT, { signal })).rejects.toBe(none);
});

test("ends a page after some partitions without objects, with a token that continues", async () => {
  const { state, asked } = setUp();
  const query = { collection: "shop.Log", fresh: false, limit: 5 };
  const first = await state.list(KEY, query, signal);
  expect({ objects: first.objects, calls: asked.length }).toEqual({ objects: [], calls: 32 });
  const rest = await state.list(KEY, { ...query, pageToken: first.next ?? "" }, signal);
  expect(rest).toEqual({
    objects: [{ collection: "shop.Log", partition: 39, objectId: "x", version: 1, entryCount: 0 }],
  });
});

test.each([
  { why: "no collection is named among several", query: {}, text: "use one of shop.Cart, shop.Log" },
  { why: "the partition does not exist", query: { collection: "shop.Log", partition: 40 }, text: "use 0 to 39" },
  { why: "the collection does not exist", query: { collection: "shop.X" }, text: 'collection "shop.X"' },
])("rejects a list when $why", async ({ query, text }) => {
  const { state, asked } = setUp();
  await expect(state.list(KEY, { fresh: false, ...query }, signal)).rejects.toThrow(text);
  expect(asked).toEqual([]);
});

test("rejects the token of another list", async () => {
  const { state } = setUp();
  const { next = "" } = await state.list(KEY, { collection: "shop.Log", fresh: false }, signal);
  for (const query of [{ collection: "shop.Cart" }, { collection: "shop.Log", partition: 1 }]) {
    const asked = { ...query, fresh: false, pageToken: next };
    await expect(state.list(KEY, asked, signal)).rejects.toThrow("$.page_token");
  }
});

test("rejects a deployment without a state store, and a cluster without the deployment", async () => {
  await expect(setUp({}, "none").state.collections(KEY)).rejects.toThrow("has no state store");
  const { state } = setUp();
  await expect(state.get(KEY, AT, { signal, cluster: "d" as ClusterName })).rejects.toThrow("cart in d");
});
