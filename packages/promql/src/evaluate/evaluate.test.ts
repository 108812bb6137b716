import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TimeSeriesStore } from "../store/time-series-store.ts";
import { QueryEngine } from "./evaluate.ts";
import { formatPlain, formatValue } from "./format-number.ts";
import { bucketQuantile } from "./histogram.ts";

function storeWith(
  ...series: readonly (readonly [Record<string, string>, readonly (readonly [number, number])[]])[]
): TimeSeriesStore {
  const store = new TimeSeriesStore({ retentionMs: 1e9 });
  for (const [labels, samples] of series)
    for (const [seconds, value] of samples) store.append(labels, seconds * 1000, value);
  return store;
}

/** The values of an instant query, in the order of the result. */
function valuesOf(engine: QueryEngine, query: string, seconds: number): readonly number[] {
  const result = engine.queryInstant(query, seconds * 1000);
  if (result.type === "scalar") return [result.point.value];
  return result.type === "string" ? [] : result.series.flatMap(({ points }) => points.map(({ value }) => value));
}

describe("ranges", () => {
  const store = storeWith([
    { __name__: "c" },
    [
      [0, 0],
      [60, 60],
      [120, 120],
      [180, 180],
    ],
  ]);

  it("exclude the sample at their start, as Prometheus 3 does, or include it as version 2 does", () => {
    expect(valuesOf(new QueryEngine(store), "count_over_time(c[2m])", 180)).toEqual([2]);
    expect(valuesOf(new QueryEngine(store, { prometheus: 2 }), "count_over_time(c[2m])", 180)).toEqual([3]);
    expect(valuesOf(new QueryEngine(store), "c", 480)).toEqual([]);
    expect(valuesOf(new QueryEngine(store), "c", 479)).toEqual([180]);
    expect(valuesOf(new QueryEngine(store, { prometheus: 2 }), "c", 480)).toEqual([180]);
  });

  it("extrapolate counters to the ends of the range and over resets", () => {
    expect(valuesOf(new QueryEngine(store), "rate(c[3m])", 180)[0]).toBeCloseTo(1, 12);
    const reset = storeWith([
      { __name__: "c" },
      [
        [10, 100],
        [20, 110],
        [30, 5],
        [40, 15],
      ],
    ]);
    expect(valuesOf(new QueryEngine(reset), "increase(c[40s])", 40)[0]).toBeCloseTo(25 * (40 / 30), 12);
  });

  it("do not extrapolate a counter below zero", () => {
    const young = storeWith([
      { __name__: "c" },
      [
        [100, 1],
        [110, 11],
        [120, 21],
      ],
    ]);
    // The counter was zero one second before its first sample.
    expect(valuesOf(new QueryEngine(young), "increase(c[30s])", 125)[0]).toBeCloseTo(20 * (26 / 20), 12);
  });
});

describe("laws", () => {
  const counter = fc
    .array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 40 })
    .map((values) => storeWith([{ __name__: "c" }, values.map((value, index) => [index * 15, value] as const)]));

  it("a rate is never negative, and an increase is the rate times the range", () => {
    fc.assert(
      fc.property(counter, fc.integer({ min: 15, max: 900 }), (store, seconds) => {
        const engine = new QueryEngine(store);
        const [rate] = valuesOf(engine, "rate(c[5m])", seconds);
        const [increase] = valuesOf(engine, "increase(c[5m])", seconds);
        if (rate === undefined || increase === undefined) return;
        expect(rate).toBeGreaterThanOrEqual(0);
        expect(increase / 300).toBeCloseTo(rate, 6);
      }),
    );
  });

  it("a range query is the instant query at each step", () => {
    const queries = [
      "c",
      "rate(c[1m])",
      "sum(c) > 5",
      "max_over_time(c[2m:30s])",
      "c offset 1m",
      "absent(c)",
      "time()",
    ];
    fc.assert(
      fc.property(counter, fc.constantFrom(...queries), fc.integer({ min: 1, max: 100 }), (store, query, step) => {
        const engine = new QueryEngine(store);
        const result = engine.queryRange(query, { startMs: 0, endMs: 600_000, stepMs: step * 1000 });
        if (result.type !== "matrix") throw new Error("not a matrix");
        const found = new Map(
          result.series.flatMap(({ points }) => points.map(({ atMs, value }) => [atMs, value] as const)),
        );
        for (let seconds = 0; seconds <= 600; seconds += step) {
          expect(found.get(seconds * 1000)).toEqual(valuesOf(engine, query, seconds)[0]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("a bucket quantile grows with the quantile and stays within the buckets", () => {
    const histogram = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 4, maxLength: 4 }).map((counts) =>
      [0.1, 0.5, 1, Infinity].map((bound, index) => ({
        bound,
        count: counts.slice(0, index + 1).reduce((sum, one) => sum + one, 0),
      })),
    );
    fc.assert(
      fc.property(
        histogram,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (buckets, one, other) => {
          const [low, high] = [Math.min(one, other), Math.max(one, other)].map((quantile) =>
            bucketQuantile(quantile, buckets, 3),
          );
          if (buckets.at(-1)?.count === 0) return expect(low).toBeNaN();
          if (Number.isNaN(low)) return undefined;
          expect(low).toBeLessThanOrEqual(high ?? 0);
          expect(high).toBeLessThanOrEqual(1);
          return undefined;
        },
      ),
    );
  });
});

describe("limits", () => {
  const store = storeWith(
    ...Array.from(
      { length: 50 },
      (_, index) =>
        [
          { __name__: "c", n: String(index) },
          Array.from({ length: 200 }, (_, step) => [step * 10, step] as const),
        ] as const,
    ),
  );

  it("refuses more than 11,000 steps", () => {
    const engine = new QueryEngine(store);
    expect(() => engine.queryRange("c", { startMs: 0, endMs: 11_001_000, stepMs: 1000 })).toThrow("11,000 points");
    expect(() => engine.queryRange("c", { startMs: 0, endMs: 10, stepMs: 0 })).toThrow("step");
    expect(() => engine.queryRange("c", { startMs: 10, endMs: 0, stepMs: 1 })).toThrow("before start");
    expect(() => engine.queryRange("c[5m]", { startMs: 0, endMs: 10, stepMs: 1 })).toThrow("range vector");
  });

  it.each([
    "c",
    "sum(rate(c[30m]))",
    "max_over_time(c[30m:1ms])",
    "max_over_time(max_over_time(c[30m:1s])[30m:1s])",
    "c * on (n) c",
    'c{n=~"((.?){10}){10}x"}',
    "count_over_time(vector(1)[100y:1ms])",
  ])("refuses %s when it needs more samples than allowed", (query) => {
    const engine = new QueryEngine(store, { maxSamples: 5000 });
    expect(() => engine.queryRange(query, { startMs: 0, endMs: 1_000_000, stepMs: 1000 })).toThrow(
      "more than 5000 samples",
    );
  });
});

describe("formatting", () => {
  it.each([
    [1, "1", "1"],
    [0.1, "0.1", "0.1"],
    [1e21, "1e+21", "1000000000000000000000"],
    [-1.5e-7, "-1.5e-07", "-0.00000015"],
    [Infinity, "+Inf", "+Inf"],
    [Number.NaN, "NaN", "NaN"],
    [-0, "-0", "-0"],
  ])("shows %s as %s or %s", (value, json, plain) => {
    expect(formatValue(value)).toBe(json);
    expect(formatPlain(value)).toBe(plain);
  });

  it("reads back the same number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatValue(value))).toBe(value);
        expect(Number(formatPlain(value))).toBe(value);
      }),
    );
  });
});
