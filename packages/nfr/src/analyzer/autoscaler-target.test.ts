import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { autoscalerTarget, MAX_TARGET_UTILIZATION, MIN_TARGET_UTILIZATION } from "./autoscaler-target.ts";
import type { CapacityEstimate } from "./capacity.ts";

const SETTINGS = { minConfidence: 0.5, headroom: 0.2 };

function capacityOf(over: Partial<CapacityEstimate> = {}): CapacityEstimate {
  const known = { source: "measured", confidence: 0.9, rpsPerReplica: 60, rpsPerCore: 200 } as const;
  return { ...known, lower: 50, upper: 70, ...over } as CapacityEstimate;
}

describe("the target of an autoscaler", () => {
  test("is what a replica uses at its capacity, less the reserve", () => {
    // 60 requests per second use 300m of 400m, and 20 % more must fit.
    expect(autoscalerTarget(capacityOf(), { cpuRequestMillicores: 400 }, SETTINGS)).toBe(0.6);
  });

  test.each<{ why: string; capacity?: Partial<CapacityEstimate>; scale?: object }>([
    { why: "the user states one", scale: { cpuRequestMillicores: 400, cpuTarget: 0.5 } },
    { why: "the capacity is assumed", capacity: { source: "assumed" } },
    { why: "the capacity is uncertain", capacity: { confidence: 0.4 } },
    { why: "the container requests no CPU", scale: {} },
  ])("is not moved when $why", ({ capacity, scale = { cpuRequestMillicores: 400 } }) => {
    expect(autoscalerTarget(capacityOf(capacity), scale, SETTINGS)).toBeUndefined();
  });

  const positive = fc.double({ min: 1e-3, max: 1e6, noNaN: true });

  test("is within its limits, never falls with the capacity, and never rises with the request", () => {
    fc.assert(
      fc.property(positive, positive, positive, positive, (rpsPerReplica, rpsPerCore, request, more) => {
        const targetOf = (rps: number, cpuRequestMillicores: number): number =>
          autoscalerTarget(capacityOf({ rpsPerReplica: rps, rpsPerCore }), { cpuRequestMillicores }, SETTINGS) ?? NaN;
        const target = targetOf(rpsPerReplica, request);
        expect(target).toBeGreaterThanOrEqual(MIN_TARGET_UTILIZATION);
        expect(target).toBeLessThanOrEqual(MAX_TARGET_UTILIZATION);
        expect(targetOf(rpsPerReplica + more, request)).toBeGreaterThanOrEqual(target);
        expect(targetOf(rpsPerReplica, request + more)).toBeLessThanOrEqual(target);
      }),
    );
  });

  test("ignores small changes of the capacity", () => {
    const scale = { cpuRequestMillicores: 400 };
    const targets = [60, 61, 62].map((rpsPerReplica) =>
      autoscalerTarget(capacityOf({ rpsPerReplica }), scale, SETTINGS),
    );
    expect(new Set(targets)).toEqual(new Set([0.6]));
  });
});
