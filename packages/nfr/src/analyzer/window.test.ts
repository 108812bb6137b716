import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Series } from "../samples.ts";
import { Findings } from "./findings.ts";
import { cleanSeries, integrateRate, valueAt } from "./window.ts";

const BOUNDS = { nowMs: 600_000, windowMs: 600_000, stepMs: 30_000 };

function clean(series: Series) {
  const findings = new Findings();
  const window = cleanSeries(series, "requests_per_second", BOUNDS, findings);
  return { ...window, reasons: findings.list().map(({ reason, detail }) => `${reason}: ${detail}`) };
}

const at = (seconds: number, value: number) => ({ atMs: seconds * 1000, value });

describe("cleanSeries", () => {
  it.each([
    { name: "keeps good samples", series: [at(30, 1), at(60, 2)], times: [30, 60], values: [1, 2], reasons: [] },
    {
      name: "drops NaN, infinite, negative and implausible values",
      series: [at(30, Number.NaN), at(60, Number.POSITIVE_INFINITY), at(90, -1), at(100, 1e16), at(120, 4)],
      times: [120],
      values: [4],
      reasons: ["invalid-values: 4 of 5 samples are not finite, negative or implausible"],
    },
    {
      name: "drops samples from the future",
      series: [at(570, 1), at(600, 2), at(601, 3)],
      times: [570, 600],
      values: [1, 2],
      reasons: ["future-samples: 1 of 3 samples are from the future"],
    },
    { name: "ignores samples before the window", series: [at(0, 9), at(30, 1)], times: [30], values: [1], reasons: [] },
    {
      name: "sorts",
      series: [at(90, 3), at(30, 1), at(60, 2)],
      times: [30, 60, 90],
      values: [1, 2, 3],
      reasons: ["unordered-samples: samples are not in the order of time"],
    },
    {
      name: "keeps the larger of two samples with one time",
      series: [at(30, 1), at(60, 2), at(60, 5), at(60, 4)],
      times: [30, 60],
      values: [1, 5],
      reasons: ["duplicate-samples: 2 samples have the time of another"],
    },
    {
      name: "names gaps",
      series: [at(30, 1), at(60, 1), at(180, 1)],
      times: [30, 60, 180],
      values: [1, 1, 1],
      reasons: ["gap: 3 of 6 samples are missing"],
    },
  ])("$name", ({ series, times, values, reasons }) => {
    const cleaned = clean(series);
    expect(cleaned.times).toEqual(times.map((seconds) => seconds * 1000));
    expect(cleaned.values).toEqual(values);
    expect(cleaned.reasons).toEqual(reasons);
  });

  it("returns ascending, finite samples of the window for any input, in any order", () => {
    const sample = fc.record({ atMs: fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.double()), value: fc.double() });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 40 }), (series) => {
        const { times, values } = clean(series);
        for (const [index, time] of times.entries()) {
          expect(time).toBeGreaterThan(0);
          expect(time).toBeLessThanOrEqual(600_000);
          if (index > 0) expect(time).toBeGreaterThan(times[index - 1] ?? 0);
        }
        expect(values.every((value) => Number.isFinite(value) && value >= 0)).toBe(true);
        expect(clean(series.toReversed())).toMatchObject({ times, values });
      }),
    );
  });
});

describe("integrateRate", () => {
  it("multiplies each rate by the time it covers, at most one step", () => {
    const times = [30_000, 60_000, 300_000];
    // Each sample covers 30 s: the gap is not counted.
    expect(integrateRate({ times, values: [10, 20, 2] }, 30_000)).toBe(300 + 600 + 60);
    expect(integrateRate({ times, values: [10, 20, 2] }, 30_000, 60_000)).toBe(60);
    // Samples that are closer than the step cover less.
    expect(integrateRate({ times: [30_000, 40_000], values: [10, 10] }, 30_000)).toBe(400);
  });
});

describe("valueAt", () => {
  const window = { times: [30_000, 60_000, 120_000], values: [1, 2, 3] };
  it.each([
    [30_000, 1],
    [59_999, 1],
    [60_000, 2],
    [105_000, 2],
    [105_001, undefined],
    [120_000, 3],
    [29_999, undefined],
  ])("at %d ms is %s", (atMs, expected) => {
    expect(valueAt(window, atMs, 30_000)).toBe(expected);
  });
});
