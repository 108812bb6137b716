import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecayingHistogram } from "./decaying-histogram.ts";
import { exp2 } from "./exp2.ts";
import { CPU_BUCKETS, DAY_MS, EPSILON, HALF_LIFE_MS, MEMORY_BUCKETS } from "./settings.ts";

const OPTIONS = { buckets: MEMORY_BUCKETS, halfLifeMs: HALF_LIFE_MS, epsilon: EPSILON };
const START_MS = Date.UTC(2026, 10, 1);

const anySample = fc.record({
  value: fc.double({ min: 0, max: 1e12, noNaN: true }),
  atMs: fc.integer({ min: START_MS, max: START_MS + 30 * DAY_MS }),
});
const anySamples = fc.array(anySample, { minLength: 1, maxLength: 60 });

const histogramOf = (samples: readonly { value: number; atMs: number }[]): DecayingHistogram => {
  const histogram = new DecayingHistogram(OPTIONS);
  for (const { value, atMs } of samples) histogram.add(value, 1, atMs);
  return histogram;
};

describe("buckets", () => {
  it("have the number of VPA's", () => {
    expect(CPU_BUCKETS.starts).toHaveLength(176);
    expect(MEMORY_BUCKETS.starts).toHaveLength(176);
  });

  it("contain their values", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2e12, noNaN: true }), (value) => {
        const index = MEMORY_BUCKETS.indexOf(value);
        const slack = value * 1e-12;
        expect(MEMORY_BUCKETS.starts[index]).toBeLessThanOrEqual(value + slack);
        expect(MEMORY_BUCKETS.starts[index + 1] ?? Infinity).toBeGreaterThan(value - slack);
      }),
    );
  });
});

describe("exp2", () => {
  it("is a power of two", () => {
    fc.assert(
      fc.property(fc.double({ min: -900, max: 101, noNaN: true }), (x) => {
        expect(exp2(x) / 2 ** x).toBeCloseTo(1, 12);
      }),
    );
  });
});

describe("a decaying histogram", () => {
  it("returns 0 while it is empty", () => {
    expect(histogramOf([]).percentile(0.9)).toBe(0);
    expect(histogramOf([]).isEmpty()).toBe(true);
  });

  it("is monotone in the percentile and stays within a bucket of the samples", () => {
    fc.assert(
      fc.property(anySamples, (samples) => {
        // Samples of one time have equal weights.
        const histogram = histogramOf(samples.map(({ value }) => ({ value, atMs: START_MS })));
        const values = samples.map(({ value }) => value);
        const [p50, p90, p100] = [0.5, 0.9, 1].map((share) => histogram.percentile(share));
        expect(p50).toBeLessThanOrEqual(p90 ?? 0);
        expect(p90).toBeLessThanOrEqual(p100 ?? 0);
        expect(p50).toBeGreaterThanOrEqual(Math.min(...values));
        expect(p100).toBeLessThanOrEqual(Math.max(...values) * 1.05 + 1.05e7);
      }),
    );
  });

  it("prefers newer samples: after ten half-lives the old ones do not count", () => {
    const old = Array.from({ length: 100 }, () => ({ value: 9e9, atMs: START_MS }));
    const recent = { value: 1e9, atMs: START_MS + 10 * DAY_MS };
    expect(histogramOf([...old, recent]).percentile(0.9)).toBeLessThan(1.1e9);
    expect(histogramOf(old).percentile(0.9)).toBeGreaterThan(9e9);
  });

  it("forgets a sample that is subtracted", () => {
    fc.assert(
      fc.property(anySamples, anySample, (samples, extra) => {
        const histogram = histogramOf(samples);
        const before = histogram.save();
        histogram.add(extra.value, 1, extra.atMs);
        histogram.subtract(extra.value, 1, extra.atMs);
        const after = histogram.save();
        // What is left of a much larger sum is rounded.
        expect(after.totalWeight / before.totalWeight).toBeCloseTo(1, 5);
        for (const [bucket, weight] of Object.entries(before.weights)) {
          if (weight > 1) expect(after.weights[bucket], bucket).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("is the same after a checkpoint of bounded size", () => {
    fc.assert(
      fc.property(anySamples, anySample, (samples, next) => {
        const histogram = histogramOf(samples);
        const saved = JSON.stringify(histogram.save());
        expect(saved.length).toBeLessThan(5000);
        const loaded = DecayingHistogram.load(OPTIONS, JSON.parse(saved)) ?? histogramOf([]);
        for (const each of [histogram, loaded]) each.add(next.value, 1, next.atMs);
        expect(loaded.save()).toEqual(histogram.save());
        for (const share of [0.5, 0.9, 0.95]) expect(loaded.percentile(share)).toBe(histogram.percentile(share));
      }),
    );
  });

  it("rejects a checkpoint with other buckets", () => {
    const saved = { referenceMs: 0, totalWeight: 1, weights: { "176": 1 } };
    expect(DecayingHistogram.load(OPTIONS, saved)).toBeUndefined();
    expect(DecayingHistogram.load(OPTIONS, { ...saved, weights: { "1": -1 } })).toBeUndefined();
    expect(DecayingHistogram.load(OPTIONS, { ...saved, weights: { "1.5": 1 } })).toBeUndefined();
  });
});
