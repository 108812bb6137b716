import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LastingNeed, Recommendation } from "../recommendation.ts";
import { recommendMaximum, recommendMinimum } from "./autoscaler.ts";

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

describe("the maximum of an autoscaler", () => {
  it.each([
    { why: "binds", target: 8, maximum: 5, inUse: 5, expected: 8 },
    { why: "is not used up", target: 8, maximum: 5, inUse: 4, expected: 5 },
    { why: "is used up, but enough", target: 5, maximum: 5, inUse: 5, expected: 5 },
    { why: "was raised and is still needed", target: 7, maximum: 9, inUse: 7, expected: 9 },
    { why: "was raised and the stated one suffices again", target: 4, maximum: 9, inUse: 6, expected: 5 },
  ])("is $expected of $target recommended when it $why", ({ target, maximum, inUse, expected }) => {
    const found = recommendMaximum(recommend(target, {}), { maximum, stated: 5, inUse });
    expect(found).toMatchObject({ dimension: "max_replicas", target: expected, current: maximum });
    expect(found.basis.values).toEqual({ recommended_replicas: target, replicas_in_use: inUse });
    expect(found).not.toHaveProperty("lasting");
  });

  it("rises only while all of it is used, and never beyond the recommended replicas", () => {
    const count = fc.integer({ min: 1, max: 50 });
    fc.assert(
      fc.property(count, count, count, fc.nat(60), (target, stated, more, inUse) => {
        const maximum = stated + more;
        const found = recommendMaximum(recommend(target), { maximum, stated, inUse }).target;
        if (found > maximum) {
          expect(inUse).toBeGreaterThanOrEqual(maximum);
          expect(found).toBe(target);
        }
        expect(found).toBeGreaterThanOrEqual(stated);
      }),
    );
  });
});
