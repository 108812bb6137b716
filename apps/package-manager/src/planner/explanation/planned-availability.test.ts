import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clusterName,
  clusterOf,
  clustersOf,
  expectPlan,
  functionKey,
  stateOf,
  STRONG_STATE,
} from "../testing/plan-inputs.ts";
import { planText } from "./plan-view.ts";
import { presentAvailability } from "./planned-availability.ts";

const down = (...names: string[]): ReadonlySet<string> => new Set(names);

describe("the planned availability", () => {
  test("of replicas in one cluster is at most that of the cluster, and a stated target that misses it warns", () => {
    const plan = expectPlan({ clusters: [clusterOf("cloud", 0.999)], deployment: { nfr: { availability: 0.9999 } } });
    expect(plan.replicas).toBe(3);
    expect(plan.availability).toMatchObject({
      target: 0.9999,
      isTargetStated: true,
      clusterBound: 0.999,
      replicas: { cloud: 3 },
      limitingClusters: ["cloud"],
      meetsTarget: false,
      message: "all 3 replicas are in cloud and fail together with it",
    });
    expect(plan.availability.independentReplicas).toBeCloseTo(0.999_997, 6);
    expect(plan.availability.warning).toMatch(/target of 0\.9999 is missed .* at most 0\.999,/);
    expect(planText(plan)).toContain("at most 0.999 if clusters fail as a whole; target 0.9999.\nWarning: the target");
    expect(plan.decisions.find(({ rule }) => rule.startsWith("warning: cluster failures"))).toBeDefined();
  });

  test("does not warn about the default target", () => {
    const { availability } = expectPlan({ clusters: [clusterOf("far-edge", 0.95)] });
    expect(availability).toMatchObject({ isTargetStated: false, clusterBound: 0.95, meetsTarget: false });
    expect(availability).not.toHaveProperty("warning");
  });

  test("has one number when every replica is in its own cluster", () => {
    const { availability } = expectPlan({
      clusters: clustersOf([0.999, 0.99, 0.95]),
      definition: { stateSpec: STRONG_STATE },
      deployment: { nfr: { availability: 0.999 } },
    });
    expect(availability.clusterBound).toBeCloseTo(availability.independentReplicas, 12);
    expect(availability).toMatchObject({ meetsTarget: true, limitingClusters: [] });
    expect(availability.message).toBe("every replica is in its own cluster");
  });

  test("warns about a function with a target of its own", () => {
    const plan = expectPlan({
      clusters: [clusterOf("cloud", 0.99)],
      deployment: {
        functions: [{ functionKey: functionKey("Order.place"), config: {}, nfr: { availability: 0.999 } }],
      },
    });
    const warnings = plan.decisions.filter(({ rule }) => rule.startsWith("warning: cluster failures"));
    expect(warnings.map(({ outcome }) => outcome)).toEqual([expect.stringContaining("at most 0.99, because all 3")]);
  });

  test("never exceeds the availability of the only cluster", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.6, max: 0.9999, noNaN: true }),
        fc.double({ min: 0.5, max: 0.9999, noNaN: true }),
        (up, target) => {
          const deployment = { nfr: { availability: target }, allowBestEffort: true };
          const { availability } = expectPlan({ clusters: [clusterOf("a", up)], deployment });
          expect(availability.clusterBound).toBeCloseTo(up, 12);
          expect(availability.warning === undefined).toBe(up + 1e-12 >= target);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("the present availability", () => {
  const threeClusters = expectPlan({
    clusters: [clusterOf("a", 0.999), clusterOf("b", 0.99), clusterOf("c", 0.95)],
    definition: { stateSpec: STRONG_STATE },
    deployment: { nfr: { availability: 0.999 } },
  });

  test("is absent when all clusters are up, or another cluster is down", () => {
    expect(presentAvailability(threeClusters, down())).toBeUndefined();
    expect(presentAvailability(threeClusters, down("z"))).toBeUndefined();
  });

  test("requires both remaining clusters when one of three is down", () => {
    const present = presentAvailability(threeClusters, down("c"));
    expect(present?.clusterBound).toBeCloseTo(0.999 * 0.99, 12);
    expect(present).toMatchObject({ clustersDown: ["c"], message: "without c, enough replicas are left" });
  });

  test("is 0 when the quorum is lost", () => {
    expect(presentAvailability(threeClusters, down("a", "c"))).toMatchObject({
      clusterBound: 0,
      message: "without a and c, too few replicas are left",
    });
  });

  const targetClusters = [clusterName("a"), clusterName("b")];
  const clusters = [clusterOf("a", 0.99), clusterOf("b", 0.999)];

  test("of a stateless class counts the replicas of every cluster", () => {
    const plan = expectPlan({ clusters, deployment: { targetClusters } });
    expect(presentAvailability(plan, down("a"))?.clusterBound).toBeCloseTo(0.999, 12);
  });

  test("of a class with one copy per object is 0 without its cluster", () => {
    const plan = expectPlan({ clusters, definition: { stateSpec: stateOf() } });
    expect(plan).toMatchObject({ replicas: 1, odgm: { nodeIds: { b: [expect.any(Number)] } } });
    expect(presentAvailability(plan, down("b"))?.clusterBound).toBe(0);
  });

  test("is unknown for a plan of an earlier release", () => {
    const { availability: _, ...earlier } = threeClusters;
    expect(presentAvailability(earlier, down("a"))).toBeUndefined();
  });
});
