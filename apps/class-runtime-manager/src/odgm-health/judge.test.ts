import { describe, expect, test } from "vitest";
import { gridOf, type Grid } from "./grid.ts";
import { assessAnswers, isSameReading, type NodeAnswer } from "./judge.ts";
import { lastReading } from "./verdict.ts";

const NOW = Date.UTC(2026, 10, 15);
const grid = (over: Partial<Grid> = {}): Grid => ({
  uid: "u",
  key: { namespace: "shop", name: "order" },
  service: "order-odgm-svc.shop",
  nodesService: "order-odgm-pods.shop",
  port: 8080,
  nodes: 2,
  isShared: false,
  collections: [{ name: "shop.Order", partitions: 2, replicas: 1 }],
  nodeOfShard: new Map(),
  lastReading: undefined,
  ...over,
});
const node = (...partitions: number[]): NodeAnswer => ({
  address: "10.0.0.1:8080",
  shards: partitions.map((partition) => ({
    collection: "shop.Order",
    partition,
    shard: partition + 100,
    objects: partition + 10,
  })),
  capabilities: ["string_ids"],
});

describe("assesses responses", () => {
  test.each([
    { case: "no response: unknown, not unhealthy", grid: grid(), answers: [], healthy: undefined },
    { case: "all partitions are served", grid: grid(), answers: [node(0), node(1)], healthy: true },
    { case: "one node that serves all partitions is enough", grid: grid(), answers: [node(0, 1)], healthy: true },
    { case: "a partition is missing in all responses", grid: grid(), answers: [node(0), node(0)], healthy: false },
    {
      case: "a partition is missing, but a node did not respond",
      grid: grid(),
      answers: [node(0)],
      healthy: undefined,
    },
    { case: "no shard at all", grid: grid({ nodes: 1 }), answers: [node()], healthy: false },
    {
      case: "partitions may be served in other clusters",
      grid: grid({ isShared: true }),
      answers: [node(0)],
      healthy: true,
    },
    { case: "a class without collections", grid: grid({ collections: [] }), answers: [node()], healthy: true },
  ])("$case", ({ grid: expected, answers, healthy }) =>
    expect(assessAnswers(expected, answers, NOW)?.healthy).toBe(healthy),
  );

  test("reports nodes, shards, partitions, capabilities, and objects once per partition", () => {
    const other = { ...node(1), address: "10.0.0.2:8080" };
    expect(assessAnswers(grid(), [node(0, 1), other], NOW)).toEqual({
      healthy: true,
      checkedAt: "2026-11-15T00:00:00.000Z",
      details: {
        capabilities: ["string_ids"],
        active_nodes: ["10.0.0.1:8080", "10.0.0.2:8080"].map((address) => ({
          node_id: address,
          address,
          status: "serving",
          last_heartbeat: "2026-11-15T00:00:00.000Z",
        })),
        shard_distribution: { total_shards: 2, active_shards: 3, distribution_balance: 0.75 },
        collections_status: [{ name: "shop.Order", ready_shards: 3, active_partitions: 2, total_objects: 21 }],
      },
    });
  });

  test("names nodes by the assignment of their shards", () => {
    const planned = grid({
      nodeOfShard: new Map([
        [100, 8],
        [101, 7],
      ]),
    });
    const other = { ...node(1), address: "10.0.0.2:8080" };
    expect(assessAnswers(planned, [node(0), other], NOW)?.details?.active_nodes).toMatchObject([
      { node_id: "7", address: "10.0.0.2:8080" },
      { node_id: "8", address: "10.0.0.1:8080" },
    ]);
  });

  test.each([
    { case: "a node is silent", grid: grid(), answers: [node(0, 1)], want: { total_shards: 2, active_shards: 2 } },
    {
      case: "other clusters serve shards",
      grid: grid({ isShared: true, nodes: 1 }),
      answers: [node(0)],
      want: { active_shards: 1, distribution_balance: 1 },
    },
    {
      case: "each partition has two replicas",
      grid: grid({ nodes: 1, collections: [{ name: "shop.Order", partitions: 2, replicas: 2 }] }),
      answers: [node(0, 1)],
      want: { total_shards: 4, active_shards: 2, distribution_balance: 1 },
    },
    {
      case: "no shard at all",
      grid: grid({ nodes: 1 }),
      answers: [node()],
      want: { total_shards: 2, active_shards: 0 },
    },
  ])("counts shards when $case", ({ grid: expected, answers, want }) =>
    expect(assessAnswers(expected, answers, NOW)?.details?.shard_distribution).toEqual(want),
  );

  test("names the collection and the number of missing partitions", () => {
    expect(assessAnswers(grid(), [node(0), node(0)], NOW)?.message).toBe("serves 1 of 2 partitions of shop.Order");
  });
});

test("ignores object counts and times; detects lost shards and expired readings", () => {
  const before = assessAnswers(grid(), [node(0, 1)], NOW);
  const fuller: NodeAnswer = { ...node(0, 1), shards: node(0, 1).shards.map((shard) => ({ ...shard, objects: 99 })) };
  expect(isSameReading(before, assessAnswers(grid(), [fuller], NOW + 5_000))).toBe(true);
  expect(isSameReading(before, assessAnswers(grid(), [node(0, 1), node(0)], NOW))).toBe(false);
  expect(isSameReading(before, undefined)).toBe(false);
  expect(isSameReading(undefined, undefined)).toBe(true);
});

test.each([
  { case: "healthy", answers: [node(0, 1)] },
  { case: "unhealthy", answers: [node(0), node(0)] },
])("restores a reading that was $case from the status", ({ answers }) => {
  const reading = assessAnswers(grid(), answers, NOW);
  const written = {
    ...reading?.details,
    last_checked: reading?.checkedAt ?? "",
    collections_status: (reading?.details?.collections_status ?? []).map((one) => ({
      ...one,
      partition_count: 2,
      replica_count: 1,
    })),
  };
  expect(lastReading(written, false)).toEqual(reading);
  expect(lastReading({}, false)).toBeUndefined();
});

describe("state stores to query", () => {
  const metadata = { name: "order", namespace: "shop", uid: "u", resourceVersion: "1" };
  const object = { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", metadata };
  const odgm = {
    service: "order-odgm-svc:8080",
    desired_replicas: 1,
    ready_replicas: 1,
    collections_status: [{ name: "shop.Order", partition_count: 4 }],
  };

  test("reads endpoints and collections from the status", () => {
    expect(gridOf(object, { odgm_cluster_status: odgm }, {})).toEqual(
      grid({ nodes: 1, collections: [{ name: "shop.Order", partitions: 4, replicas: 1 }] }),
    );
  });

  test("reads the nodes of shards from the planned assignments", () => {
    const assignments = { "shop.Order": [{ primary: 11, replica: [1, 2], shard_ids: [11, 12] }] };
    const spec = { odgm_config: { collection_assignments: assignments } };
    expect([...(gridOf(object, { odgm_cluster_status: odgm }, spec as never)?.nodeOfShard ?? [])]).toEqual([
      [11, 1],
      [12, 2],
    ]);
  });

  test("is shared with nodes in other clusters", () => {
    const spec = { odgm_config: { env_node_ids: { here: [1], there: [2, 3] } } };
    expect(gridOf(object, { odgm_cluster_status: odgm }, spec as never)?.isShared).toBe(true);
  });

  test.each([
    { case: "no status", status: undefined, of: object },
    { case: "no store", status: {}, of: object },
    { case: "no available state store", status: { odgm_cluster_status: { ...odgm, ready_replicas: 0 } }, of: object },
    {
      case: "a class that is being deleted",
      status: { odgm_cluster_status: odgm },
      of: { ...object, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    },
  ])("no state store to query: $case", ({ status, of }) => expect(gridOf(of, status, {})).toBeUndefined());
});
