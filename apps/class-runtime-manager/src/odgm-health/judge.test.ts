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
  collections: [{ name: "shop.Order", partitions: 2 }],
  lastReading: undefined,
  ...over,
});
const node = (...partitions: number[]): NodeAnswer => ({
  shards: partitions.map((partition) => ({ collection: "shop.Order", partition, objects: partition + 10 })),
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

  test("reports shards, partitions, capabilities, and objects once per partition", () => {
    expect(assessAnswers(grid(), [node(0, 1), node(1)], NOW)).toEqual({
      healthy: true,
      checkedAt: "2026-11-15T00:00:00.000Z",
      details: {
        capabilities: ["string_ids"],
        collections_status: [{ name: "shop.Order", ready_shards: 3, active_partitions: 2, total_objects: 21 }],
      },
    });
  });

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
      grid({ nodes: 1, collections: [{ name: "shop.Order", partitions: 4 }] }),
    );
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
