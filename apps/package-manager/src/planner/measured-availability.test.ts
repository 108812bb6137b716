import type { AvailabilityMeasurement } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { CandidateCluster } from "./plan-types.ts";
import { clusterName, clusterOf, expectPlan } from "./testing/plan-inputs.ts";

const measurement: AvailabilityMeasurement = {
  value: 0.98 * 0.999,
  apiAvailability: 0.999,
  nodeAvailability: 0.98,
  windowHours: 720,
  halfLifeHours: 240,
  samples: 20_000,
  observedHours: 168,
  evidenceHours: 168,
};
const prior = { value: 0.999, weightHours: 168, source: "contract", date: "2026-01-31" };

function measuredCluster(name: string, more: Partial<CandidateCluster> = {}): CandidateCluster {
  const base = clusterOf(name, 1, more);
  return {
    ...base,
    reading: {
      cluster: clusterName(name),
      status: "healthy",
      availability: 1,
      nodeCount: 3,
      readyNodes: 3,
      measurement,
    },
  };
}

describe("a measured cluster", () => {
  test("is planned with prior and measurement, and the plan shows the arithmetic", () => {
    const plan = expectPlan({ clusters: [measuredCluster("a", { prior })] });
    const [verdict] = plan.clusters;
    expect(verdict?.availability).toBeCloseTo((0.999 + 0.97902) / 2, 9);
    expect(verdict?.reasonsFor.map(({ text }) => text).join()).toContain(
      "(0.999 × 168 h promised (contract, 2026-01-31) + 0.97902 × 168 h measured (20000 samples in a window of 720 h)) / 336 h = 0.98901",
    );
    expect(verdict?.estimate).toMatchObject({ basis: "combined", prior, isPriorStated: true });
  });

  test("without a promise, a new cluster is assumed to meet the default target and is not refused", () => {
    const fresh = clusterOf("a", 1, {});
    for (const algorithm of ["quorum", "domains"] as const) {
      const plan = expectPlan({ clusters: [fresh], settings: { algorithm } });
      expect([plan.replicas, plan.clusters[0]?.availability]).toEqual([1, 0.99]);
    }
  });

  test("its nodes are failure domains of their own", () => {
    const deployment = { nfr: { availability: 0.99 } };
    const plan = expectPlan({ clusters: [measuredCluster("a", { prior })], deployment });
    const { availability, nodeAvailability = 0 } = { ...plan.clusters[0], ...plan.clusters[0]?.estimate };
    const ofCluster = (availability ?? 0) / nodeAvailability;
    // Three stateless replicas on three nodes: one is enough while the cluster is up.
    expect(plan.replicas).toBe(3);
    expect(plan.availability.domainAvailability).toBeCloseTo(ofCluster * (1 - (1 - nodeAvailability) ** 3), 9);
    expect(plan.availability.domainAvailability).toBeLessThanOrEqual(plan.availability.clusterBound);
    expect(plan.availability.clusterBound).toBeCloseTo(ofCluster, 9);
    expect(plan.availability.limitingDomain).toMatch(/^cluster a /);
  });

  test("what-if availability replaces prior and measurement", () => {
    const plan = expectPlan({
      clusters: [measuredCluster("a", { prior })],
      whatIf: { clusterAvailability: { a: 0.9 } },
    });
    expect(plan.clusters[0]).toMatchObject({ availability: 0.9 });
    expect(plan.clusters[0]).not.toHaveProperty("estimate");
  });
});
