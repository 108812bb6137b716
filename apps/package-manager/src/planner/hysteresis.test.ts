import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DeploymentPlan } from "./plan-types.ts";
import { clusterName, clusterOf, clustersIn, clustersOf, expectPlan, STRONG_STATE } from "./testing/plan-inputs.ts";

describe("clusters", () => {
  const before = expectPlan({ clusters: clustersOf([0.995, 0.992]) });

  test.each([
    { why: "a small improvement does not move units", now: [0.995, 0.9954], want: ["c00"] },
    { why: "an equal cluster does not move units", now: [0.995, 0.995], want: ["c00"] },
    { why: "half the downtime moves units", now: [0.995, 0.9975], want: ["c01"] },
  ])("$why", ({ now, want }) => {
    expect(clustersIn(before)).toEqual(["c00"]);
    expect(clustersIn(expectPlan({ clusters: clustersOf(now), previous: before }))).toEqual(want);
  });

  test("leaves an unusable cluster at once", () => {
    const clusters = [clusterOf("c00", 0.995, { breaker: "open" }), clusterOf("c01", 0.992)];
    expect(clustersIn(expectPlan({ clusters, previous: before }))).toEqual(["c01"]);
  });

  test("does not move units to a worse cluster that joins", () => {
    const clusters = [...clustersOf([0.995, 0.992]), clusterOf("new", 0.6)];
    expect(expectPlan({ clusters }).units.length).toBeGreaterThan(1);
    const kept = expectPlan({ clusters, previous: before });
    expect(clustersIn(kept)).toEqual(["c00"]);
    expect(kept.decisions.map(({ rule }) => rule)).toContainEqual(expect.stringContaining("hysteresis"));
    expect(kept.digest).toBe(before.digest);
  });

  test("follows changed target_clusters at once", () => {
    const named = expectPlan({
      clusters: clustersOf([0.995, 0.992]),
      deployment: { targetClusters: [clusterName("c01")] },
      previous: before,
    });
    expect(clustersIn(named)).toEqual(["c01"]);
  });
});

describe("counts", () => {
  const three = expectPlan({ clusters: clustersOf([0.989, 0.989, 0.989]) });

  test.each([
    { why: "fewer meet the target within the margin", now: 0.9905, want: 3 },
    { why: "fewer meet the target beyond the margin", now: 0.995, want: 1 },
    { why: "all are needed", now: 0.98, want: 3 },
    { why: "more are needed", now: 0.93, want: 5 },
  ])("plans $want after 3 when clusters are up $now: $why", ({ now, want }) => {
    expect(three.replicas).toBe(3);
    expect(expectPlan({ clusters: clustersOf([now, now, now]), previous: three }).replicas).toBe(want);
  });

  test.each([
    { why: "another target", given: { deployment: { nfr: { availability: 0.9 } } }, want: 1 },
    { why: "another algorithm", given: { settings: { algorithm: "independent" as const } }, want: 1 },
    { why: "another consistency", given: { definition: { stateSpec: STRONG_STATE } }, want: 3 },
    { why: "a lower cap", given: { settings: { maxReplicas: 2 } }, want: 1 },
  ])("ignores the running plan after a change: $why", ({ given, want }) => {
    expect(expectPlan({ clusters: clustersOf([0.9905, 0.9905, 0.9905]), previous: three, ...given }).replicas).toBe(
      want,
    );
  });

  test("replaces a best-effort plan as soon as the target is reachable", () => {
    const deployment = { allowBestEffort: true };
    const settings = { maxReplicas: 2 };
    const before = expectPlan({ clusters: clustersOf([0.5]), deployment, settings });
    expect(before.bestEffort).toBe(true);
    expect(expectPlan({ clusters: clustersOf([0.9901]), deployment, settings, previous: before }).bestEffort).toBe(
      false,
    );
  });
});

describe("measured scales", () => {
  const at = (recommended: number, previous?: DeploymentPlan) =>
    expectPlan({
      clusters: [
        clusterOf("c00", 0.99, {
          recommendedReplicas: { "Order.place": { replicas: recommended, isOutdated: false } },
        }),
      ],
      deployment: { nfr: { minThroughputRps: 5000 } },
      ...(previous === undefined ? {} : { previous }),
    });
  const scaleOf = (plan: DeploymentPlan) => plan.units[0]?.functions[0]?.minScale;

  test.each([
    { why: "a small saving keeps the scale", now: 19, want: 20 },
    { why: "a large saving lowers it", now: 15, want: 15 },
    { why: "a higher need raises it at once", now: 21, want: 21 },
  ])("plans $want after 20 when $now are measured: $why", ({ now, want }) => {
    expect(scaleOf(at(now, at(20)))).toBe(want);
  });
});

test("planning again with the same readings gives the same plan", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.6, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(0.9, 0.99, 0.999),
      (availabilities, availability) => {
        const given = {
          clusters: clustersOf(availabilities),
          deployment: { nfr: { availability }, allowBestEffort: true },
          definition: { stateSpec: STRONG_STATE },
        };
        const first = expectPlan(given);
        expect(expectPlan({ ...given, previous: first }).digest).toBe(first.digest);
      },
    ),
  );
});

test("readings that vary by less than the margin keep the first plan", () => {
  const downtimes = fc.array(fc.double({ min: 0.001, max: 0.004, noNaN: true }), { minLength: 2, maxLength: 6 });
  const variation = fc.array(
    fc.array(fc.double({ min: 0.96, max: 1.04, noNaN: true }), { minLength: 6, maxLength: 6 }),
    {
      minLength: 5,
      maxLength: 20,
    },
  );
  fc.assert(
    fc.property(downtimes, variation, (base, rounds) => {
      const reading = (factors: readonly number[]) =>
        clustersOf(base.map((downtime, index) => 1 - downtime * (factors[index] ?? 1)));
      const first = expectPlan({ clusters: reading([]) });
      let plan = first;
      for (const factors of rounds) {
        plan = expectPlan({ clusters: reading(factors), previous: plan });
        expect(plan.digest).toBe(first.digest);
      }
    }),
  );
});
