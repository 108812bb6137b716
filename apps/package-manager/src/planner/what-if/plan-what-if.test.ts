import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ShardType } from "@oaas/models";
import { clusterName, clusterOf, clustersIn, inputOf, stateOf, STRONG_STATE } from "../testing/plan-inputs.ts";
import type { PlanInput } from "../plan-types.ts";
import { planWhatIf, type WhatIfPlan } from "./plan-what-if.ts";

const THREE = [clusterOf("cloud", 0.999), clusterOf("edge", 0.99), clusterOf("far-edge", 0.95)];
const named = (...names: string[]) => ({ targetClusters: names.map(clusterName) });

function answer(given: Parameters<typeof inputOf>[0], ...down: string[]): WhatIfPlan {
  const input: PlanInput = inputOf({ ...given, whatIf: { clustersDown: down.map(clusterName) } });
  const result = planWhatIf(input);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe("a deployment that names the cluster that is down", () => {
  const strong = {
    clusters: THREE,
    definition: { stateSpec: STRONG_STATE },
    deployment: { nfr: { availability: 0.999 }, ...named("cloud", "edge", "far-edge") },
  };

  test("keeps the quorum without one of three clusters", () => {
    const { plan, loss } = answer(strong, "edge");
    expect(clustersIn(plan)).toEqual(["cloud", "edge", "far-edge"]);
    expect(loss).toMatchObject({
      clustersDown: ["edge"],
      lost: ["edge"],
      running: [
        { cluster: "cloud", functions: [{ functionKey: "Order.place", minScale: 3 }] },
        { cluster: "far-edge" },
      ],
      quorum: "kept",
      partitions: 4,
      availablePartitions: 4,
      restoredBy: [],
      placement: "unchanged",
      message: "the class keeps running in cloud, far-edge; the quorum is kept: available are 4 of 4 partitions",
    });
    expect(loss?.clusterBound).toBeCloseTo(0.999 * 0.95, 12);
    expect(loss?.recovery).toMatch(/^Units in edge start again .* No unit is moved, because target_clusters names/);
  });

  test("loses the quorum without two of three, and either of them restores it", () => {
    const { loss } = answer(strong, "edge", "cloud");
    expect(loss).toMatchObject({
      quorum: "lost",
      availablePartitions: 0,
      clusterBound: 0,
      restoredBy: [["cloud"], ["edge"]],
    });
    expect(loss?.recovery).toMatch(/^The class is available again when cloud or edge is back\./);
  });

  test("loses everything without its only cluster", () => {
    const { loss } = answer({ ...strong, deployment: { ...named("edge") } }, "edge");
    expect(loss).toMatchObject({ running: [], quorum: "lost", restoredBy: [["edge"]] });
    expect(loss?.message).toMatch(/^nothing keeps running; the quorum is lost/);
  });

  test("loses the objects with one copy in the cluster that is down", () => {
    const odgm = { collections: [], nodeIds: {}, shardType: ShardType.basic };
    const { loss } = answer(
      { clusters: THREE, definition: { stateSpec: stateOf() }, deployment: { ...named("edge"), odgm } },
      "edge",
    );
    expect(loss).toMatchObject({ quorum: "lost", partitions: 4, availablePartitions: 0, restoredBy: [["edge"]] });
  });

  test("serves every object from one copy when copies are merged", () => {
    const odgm = { collections: [], nodeIds: {}, shardType: ShardType.mst, replicaCount: 3 };
    const { loss } = answer(
      { ...strong, definition: { stateSpec: stateOf() }, deployment: { ...strong.deployment, odgm } },
      "edge",
      "cloud",
    );
    expect(loss).toMatchObject({ quorum: "kept", restoredBy: [] });
  });

  test("of a stateless class keeps running elsewhere", () => {
    const { loss } = answer({ clusters: THREE, deployment: named("cloud", "edge") }, "edge");
    expect(loss).toMatchObject({ quorum: "stateless", partitions: 0, restoredBy: [], running: [{ cluster: "cloud" }] });
    expect(loss?.clusterBound).toBeCloseTo(0.999, 12);
  });

  test("that is not used loses nothing", () => {
    const { loss } = answer({ clusters: THREE, deployment: named("cloud") }, "edge");
    expect(loss).toMatchObject({ lost: [], placement: "unchanged", recovery: "nothing to recover" });
  });
});

describe("a deployment whose clusters the planner chooses", () => {
  const chosen = { clusters: THREE, deployment: { nfr: { availability: 0.999 } } };

  test("returns the placement without the cluster, and the loss of the one with it", () => {
    const { plan, loss } = answer(chosen, "edge");
    expect(clustersIn(plan)).toEqual(["cloud", "far-edge"]);
    expect(loss).toMatchObject({
      placement: "replanned",
      recovery: expect.stringContaining("when a cluster is lost for longer than REPLAN_CLUSTER_LOST"),
    });
  });

  test("with state is not moved, because the nodes of its state store are fixed", () => {
    const { plan, loss } = answer({ ...chosen, definition: { stateSpec: STRONG_STATE } }, "edge");
    expect(clustersIn(plan)).toEqual(["cloud", "edge", "far-edge"]);
    expect(loss).toMatchObject({ placement: "unchanged", quorum: "kept" });
    expect(loss?.recovery).toContain("No unit is moved, because the nodes of a state store are fixed");
  });

  test("says when no other placement is possible", () => {
    const { plan, loss } = answer(chosen, "cloud", "edge", "far-edge");
    expect(clustersIn(plan).length).toBeGreaterThan(0);
    expect(loss).toMatchObject({ placement: "impossible", running: [] });
    expect(loss?.recovery).toContain("No other placement is possible: no cluster is usable");
  });
});

test("an unknown cluster is a violation", () => {
  const result = planWhatIf(inputOf({ whatIf: { clustersDown: [clusterName("mars")] } }));
  expect(result).toMatchObject({
    ok: false,
    error: { kind: "invalid", violations: [{ path: "$.what_if.clusters_down[0]" }] },
  });
});

test("the return of any named set restores every partition, and no smaller loss is reported as lost", () => {
  const names = THREE.map(({ name }) => name);
  fc.assert(
    fc.property(
      fc.subarray(names, { minLength: 1 }),
      fc.subarray(names, { minLength: 1 }),
      fc.constantFrom(0.9, 0.99, 0.999, 0.9999),
      fc.boolean(),
      (target, down, availability, hasState) => {
        const given = {
          clusters: THREE,
          definition: hasState ? { stateSpec: stateOf() } : {},
          deployment: { targetClusters: target, nfr: { availability }, allowBestEffort: true },
        };
        const { loss } = answer(given, ...down);
        for (const set of loss!.restoredBy) {
          const still = down.filter((name) => !set.includes(name));
          expect(still.length).toBeLessThan(down.length);
          if (still.length > 0) expect(answer(given, ...still).loss?.restoredBy).toEqual([]);
        }
        expect(loss!.running.map(({ cluster }) => cluster)).toEqual(
          target.filter((name) => !down.includes(name)).toSorted(),
        );
      },
    ),
    { numRuns: 100 },
  );
});
