import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { max, mean, min, movingAverage, newestRate, quantile, roundTo } from "./aggregates.ts";

const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 30 });

describe("aggregates", () => {
  it("are undefined without values", () => {
    expect([mean([]), max([]), min([]), quantile([], 0.5), movingAverage({ times: [], values: [] }, 1)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    { values: [1, 2, 3, 4], mean: 2.5, max: 4, p50: 2.5, p90: 3.7 },
    { values: [7], mean: 7, max: 7, p50: 7, p90: 7 },
    { values: [10, 0, 0, 0, 0], mean: 2, max: 10, p50: 0, p90: 6 },
  ])("of $values", (expected) => {
    expect(mean(expected.values)).toBe(expected.mean);
    expect(max(expected.values)).toBe(expected.max);
    expect(min(expected.values)).toBe(Math.min(...expected.values));
    expect(quantile(expected.values, 0.5)).toBe(expected.p50);
    expect(quantile(expected.values, 0.9)).toBeCloseTo(expected.p90, 10);
  });

  it("moves the average half of the way in one half-life", () => {
    expect(movingAverage({ times: [0, 60_000], values: [0, 100] }, 60_000)).toBe(50);
    // 100 * (1 - 2^-2) after two half-lives, in one step or in four.
    expect(movingAverage({ times: [0, 120_000], values: [0, 100] }, 60_000)).toBe(75);
    const times = [0, 30_000, 60_000, 90_000, 120_000];
    expect(movingAverage({ times, values: [0, 100, 100, 100, 100] }, 60_000)).toBeCloseTo(75, 10);
  });

  it("are between the smallest and the largest value", () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (given, q) => {
        const least = Math.min(...given);
        const most = Math.max(...given);
        const times = given.map((_, index) => index * 30_000);
        for (const aggregate of [mean(given), quantile(given, q), movingAverage({ times, values: given }, 60_000)]) {
          expect(aggregate).toBeGreaterThanOrEqual(least * (1 - 1e-12));
          expect(aggregate).toBeLessThanOrEqual(most * (1 + 1e-12));
        }
      }),
    );
  });

  it("do not fall when any value rises", () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.double({ min: 0, max: 1e9, noNaN: true }), (given, at, more) => {
        const index = at % given.length;
        const raised = given.with(index, (given[index] ?? 0) + more);
        const times = given.map((_, position) => position * 30_000);
        const average = (list: readonly number[]) => movingAverage({ times, values: list }, 60_000) ?? 0;
        expect(average(raised)).toBeGreaterThanOrEqual(average(given) * (1 - 1e-12));
        expect(quantile(raised, 0.9)).toBeGreaterThanOrEqual(quantile(given, 0.9) ?? 0);
      }),
    );
  });

  it.each([
    [123_456, 3, 123_000],
    [0.001_234_5, 3, 0.001_23],
    [0, 3, 0],
    [99_960, 3, 100_000],
    [5e-324, 3, 5e-324],
  ])("rounds %d to %d digits", (value, digits, expected) => {
    expect(roundTo(value, digits)).toBe(expected);
  });
});

describe("the rate of the newest step", () => {
  const STEP = 30_000;
  /** Rates over four steps, from the rate of each step. */
  const ratesOver = (steps: readonly number[]) => {
    const values = steps.slice(3).map((_, i) => mean(steps.slice(i, i + 4)) ?? 0);
    return { times: values.map((_, i) => i * STEP), values };
  };
  const newest = (steps: readonly number[]) => newestRate(ratesOver(steps), 4 * STEP, STEP);
  const flat = (count: number, value: number) => Array.from({ length: count }, () => value);

  it("shows the start and the end of a burst a range earlier than the rates", () => {
    expect(newest([...flat(16, 0), 8])).toBe(8);
    expect(newest([...flat(16, 0), 8, 8])).toBeCloseTo(8, 9);
    expect(newest([...flat(16, 0), 8, 8, 0])).toBeCloseTo(0, 9);
    expect(newest(flat(20, 5))).toBeCloseTo(5, 9);
    expect(newestRate(ratesOver(flat(20, 5)), STEP / 4, STEP)).toBe(5);
  });

  it("is not known from fewer samples than a range, or with a gap in it", () => {
    expect(newest(flat(6, 5))).toBeUndefined();
    const { times, values } = ratesOver(flat(20, 5));
    expect(newestRate({ times: [...times.slice(0, -1), 20 * STEP], values }, 4 * STEP, STEP)).toBeUndefined();
  });

  it("is at least 0, and at most all requests of the range in one step", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1000 }), { minLength: 8, maxLength: 24 }), (steps) => {
        const rate = newest(steps) ?? 0;
        expect(rate).toBeGreaterThanOrEqual(0);
        expect(rate).toBeLessThanOrEqual(4 * (ratesOver(steps).values.at(-1) ?? 0));
      }),
    );
  });
});
