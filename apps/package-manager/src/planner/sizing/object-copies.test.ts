import { ShardType, type ClusterName } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { clustersOf, expectPlan, stateOf } from "../testing/plan-inputs.ts";
import type { PlannedOdgm } from "../plan-types.ts";
import { copySetsOf, limitingClusters, worstBound } from "./object-copies.ts";

const CLUSTERS = [0.9, 0.99].map((availability, index) => ({
  cluster: `c0${index}` as ClusterName,
  availability,
  replicas: 2,
}));

function gridOf(shardType: ShardType | undefined, ...replicas: number[][]): PlannedOdgm {
  const { odgm } = expectPlan({ clusters: clustersOf([0.9, 0.99]), definition: { stateSpec: stateOf() } });
  const { shardType: _, ...open } = odgm!;
  return {
    ...open,
    ...(shardType === undefined ? {} : { shardType }),
    nodeIds: { c00: [1, 2], c01: [3, 4] },
    assignments: { objects: replicas.map((replica) => ({ primary: 1, replica, shardIds: replica })) },
  };
}

describe("copies of objects", () => {
  test.each([
    { type: ShardType.raft, replica: [1, 2, 3], want: 0.9, why: "a majority is in the first cluster" },
    { type: undefined, replica: [1, 3, 4], want: 0.99, why: "an open type may become raft" },
    { type: ShardType.raft, replica: [1, 3], want: 0.9 * 0.99, why: "both of two copies must be up" },
    { type: ShardType.mst, replica: [1, 3], want: 1 - 0.1 * 0.01, why: "any copy serves" },
    { type: ShardType.none, replica: [3, 1], want: 0.99, why: "only the first copy exists" },
  ])("of type $type on nodes $replica: $why", ({ type, replica, want }) => {
    expect(worstBound(copySetsOf(CLUSTERS, gridOf(type, replica), "quorum"))).toBeCloseTo(want, 12);
  });

  test("the bound is that of the worst partition, and each distinct placement counts its partitions", () => {
    const sets = copySetsOf(CLUSTERS, gridOf(ShardType.raft, [1, 2, 3], [2, 1, 3], [1, 3, 4]), "quorum");
    expect(sets.map(({ partitions }) => partitions)).toEqual([2, 1]);
    expect(worstBound(sets)).toBeCloseTo(0.9, 12);
    expect(limitingClusters(sets)).toEqual(["c00", "c01"]);
  });

  test("a stateless class is up while any cluster is", () => {
    expect(worstBound(copySetsOf(CLUSTERS, undefined, "quorum"))).toBeCloseTo(1 - 0.1 * 0.01, 12);
  });
});
