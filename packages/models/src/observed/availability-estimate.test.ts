import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClusterName } from "../fields/ids.ts";
import {
  DEFAULT_PRIOR,
  estimateAvailability,
  PRIOR_RANGE,
  PRIOR_WEIGHT_RANGE,
  type AvailabilityEstimate,
  type AvailabilityPrior,
} from "./availability-estimate.ts";
import { AvailabilitySource, type AvailabilityMeasurement, type ClusterHealth } from "./cluster.ts";

const health = (more: Partial<ClusterHealth> = {}): ClusterHealth => ({
  cluster: "edge" as ClusterName,
  status: "healthy",
  ...more,
});
const stated: AvailabilityPrior = { value: 0.999, weightHours: 168, source: "contract", date: "2026-01-31" };

function measured(value: number, evidenceHours: number, nodes?: number): AvailabilityMeasurement {
  const apiAvailability = nodes === undefined ? value : value / nodes;
  return {
    value,
    apiAvailability,
    ...(nodes === undefined ? {} : { nodeAvailability: nodes }),
    windowHours: 720,
    halfLifeHours: 240,
    samples: 10,
    observedHours: evidenceHours,
    evidenceHours,
  };
}

function estimated(reading: ClusterHealth, prior?: AvailabilityPrior): AvailabilityEstimate {
  const result = estimateAvailability(reading, prior);
  if (result === undefined) throw new Error("no estimate");
  return result;
}

describe("the availability of a cluster", () => {
  test.each<{ why: string; reading: ClusterHealth; prior?: AvailabilityPrior; value: number; basis: string }>([
    {
      why: "a promise of a week and a measured week count equally",
      reading: health({ measurement: measured(0.95, 168) }),
      prior: stated,
      value: (0.999 + 0.95) / 2,
      basis: "combined",
    },
    {
      why: "a healthy cluster without a promise approaches 1 with its evidence",
      reading: health({ availability: 1, measurement: measured(1, 24) }),
      value: 0.995,
      basis: "combined",
    },
    {
      why: "a configured value replaces promise and measurement",
      reading: health({ availability: 0.9, availabilitySource: "configured", measurement: measured(1, 100) }),
      prior: stated,
      value: 0.9,
      basis: "configured",
    },
    {
      why: "an earlier manager that reports a value below 1 is believed",
      reading: health({ availability: 0.95 }),
      value: 0.95,
      basis: "reported",
    },
    {
      why: "an earlier manager that reports 1 has no evidence",
      reading: health({ availability: 1 }),
      value: 0.99,
      basis: "prior",
    },
    {
      why: "fewer ready nodes count as reported",
      reading: health({ nodeCount: 20, readyNodes: 19 }),
      value: 0.95,
      basis: "reported",
    },
    {
      why: "almost all nodes ready now does not prove more than the default",
      reading: health({ nodeCount: 1000, readyNodes: 999 }),
      value: 0.99,
      basis: "prior",
    },
    {
      why: "beside a promise, a value without a sample size counts as one hour",
      reading: health({ nodeCount: 2, readyNodes: 1 }),
      prior: stated,
      value: (0.999 * 168 + 0.5) / 169,
      basis: "combined",
    },
    {
      why: "a promise stands for a peer that reports nothing",
      reading: health(),
      prior: stated,
      value: 0.999,
      basis: "prior",
    },
  ])("$why", ({ reading, prior, value, basis }) => {
    const result = estimated(reading, prior);
    expect(result.value).toBeCloseTo(value, 12);
    expect(result).toMatchObject({ basis, isPriorStated: prior !== undefined });
  });

  test("is unknown if nothing is reported and nothing is promised", () => {
    expect(estimateAvailability(health(), undefined)).toBeUndefined();
  });

  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const anyPrior = fc.record({
    value: fc.double({ ...PRIOR_RANGE, noNaN: true }),
    weightHours: fc.double({ ...PRIOR_WEIGHT_RANGE, noNaN: true }),
    source: fc.constant("x"),
  });
  const hours = fc.double({ min: 0.01, max: 8784, noNaN: true });

  test("lies between promise and measurement, and is never certain", () => {
    fc.assert(
      fc.property(fc.option(anyPrior, { nil: undefined }), share, hours, (prior, value, evidence) => {
        const result = estimated(health({ availability: 1, measurement: measured(value, evidence) }), prior);
        const from = (prior ?? DEFAULT_PRIOR).value;
        expect(result.value).toBeGreaterThanOrEqual(Math.min(from, value));
        expect(result.value).toBeLessThanOrEqual(Math.max(from, value));
        expect(result.value).toBeGreaterThan(0);
        expect(result.value).toBeLessThan(1);
      }),
      { numRuns: 1000 },
    );
  });

  test("moves towards the measurement with more evidence, and towards the promise with more weight", () => {
    fc.assert(
      fc.property(anyPrior, share, hours, hours, (prior, value, a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)];
        const distance = (evidence: number, weight = prior.weightHours): number =>
          Math.abs(
            estimated(health({ measurement: measured(value, evidence) }), { ...prior, weightHours: weight }).value -
              value,
          );
        expect(distance(more)).toBeLessThanOrEqual(distance(less) + 1e-12);
        expect(distance(less, prior.weightHours * 2)).toBeGreaterThanOrEqual(distance(less) - 1e-12);
      }),
    );
  });

  test("rises with the measured value, and depends only on the ratio of the weights", () => {
    fc.assert(
      fc.property(
        anyPrior,
        share,
        share,
        hours,
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        (prior, a, b, evidence, factor) => {
          const of = (value: number, scale = 1): number =>
            estimated(health({ measurement: measured(value, evidence * scale) }), {
              ...prior,
              weightHours: prior.weightHours * scale,
            }).value;
          expect(of(Math.max(a, b))).toBeGreaterThanOrEqual(of(Math.min(a, b)));
          expect(of(a, factor)).toBeCloseTo(of(a), 9);
        },
      ),
    );
  });

  test("attributes to nodes only their measured downtime, and never more than the whole downtime", () => {
    fc.assert(
      fc.property(anyPrior, share, share, hours, (prior, api, nodes, evidence) => {
        const measurement = { ...measured(api * nodes, evidence), apiAvailability: api, nodeAvailability: nodes };
        const { value, nodeAvailability = 0 } = estimated(health({ measurement }), prior);
        expect(nodeAvailability).toBeGreaterThanOrEqual(value - 1e-12);
        expect(nodeAvailability).toBeLessThanOrEqual(1);
        // The rest is that of the cluster: the prior and the API.
        const ofCluster =
          1 - (prior.weightHours * (1 - prior.value) + evidence * (1 - api)) / (prior.weightHours + evidence);
        expect(value / nodeAvailability).toBeCloseTo(ofCluster, 9);
      }),
    );
    const perfect = estimated(health({ measurement: measured(1, 100, 1) }));
    expect(perfect.nodeAvailability).toBe(1);
    expect(perfect.observed).toEqual({ value: 1, hours: 100, source: AvailabilitySource.measured });
  });
});
