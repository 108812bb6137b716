import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LastingNeed, Recommendation } from "../recommendation.ts";
import { recommendMinimum } from "./autoscaler.ts";

function recommend(target: number, lasting?: Partial<LastingNeed>): Recommendation {
  return {
    component: "echo",
    dimension: "replicas",
    target,
    lowerBound: target,
    upperBound: target,
    ...(lasting && { lasting: { replicas: 4, stated: 1, isWithinBudget: true, ready: 6, ...lasting } }),
    basis: { window: "10m", query: "rps", values: {} },
    confidence: 1,
    observedAtMs: 0,
    validUntilMs: 1,
  };
}

describe("the minimum of an autoscaler", () => {
  it.each([
    { why: "copes", minimum: 1, lasting: {}, expected: 1 },
    { why: "has too many slow requests", minimum: 1, lasting: { isWithinBudget: false }, expected: 4 },
    { why: "has less than half of the replicas", minimum: 1, lasting: { ready: 2 }, expected: 4 },
    { why: "has only what a raised minimum asks for", minimum: 4, lasting: { ready: 4 }, expected: 4 },
    { why: "has more than a raised minimum asks for", minimum: 4, lasting: { ready: 5 }, expected: 1 },
    { why: "copes, with a stated throughput", minimum: 1, lasting: { stated: 3 }, expected: 3 },
  ])("is $expected when it $why", ({ minimum, lasting, expected }) => {
    expect(recommendMinimum(recommend(6, lasting), minimum).target).toBe(expected);
  });

  it("is the target when nothing else is known", () => {
    const recommendation = recommend(6);
    expect(recommendMinimum(recommendation, 1)).toBe(recommendation);
  });

  it("is at least what is stated, at most the target, and keeps the order of the bounds", () => {
    const count = fc.nat({ max: 50 });
    fc.assert(
      fc.property(count, count, count, fc.boolean(), count, count, (a, b, c, isWithinBudget, ready, minimum) => {
        const [stated, replicas, target] = [a, b, c].toSorted((x, y) => x - y) as [number, number, number];
        const result = recommendMinimum(recommend(target, { stated, replicas, isWithinBudget, ready }), minimum);
        expect(result.target).toBeGreaterThanOrEqual(stated);
        expect(result.target).toBeLessThanOrEqual(target);
        expect(result.lowerBound).toBeLessThanOrEqual(result.target);
      }),
    );
  });
});
