import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QueryEngine } from "../evaluate/evaluate.ts";
import { RingSeries } from "./ring-series.ts";
import { TimeSeriesStore } from "./time-series-store.ts";

describe("RingSeries", () => {
  it("keeps the newest samples of any sequence, in order", () => {
    const steps = fc.array(fc.integer({ min: -2, max: 5 }), { maxLength: 120 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 16, max: 40 }), (distances, maxSamples) => {
        const ring = new RingSeries([], maxSamples);
        let atMs = 0;
        const accepted: number[] = [];
        for (const distance of distances) {
          atMs += distance;
          const isNewer = atMs > (accepted.at(-1) ?? -Infinity);
          expect(ring.append(atMs, atMs * 2, false)).toBe(isNewer);
          if (isNewer) accepted.push(atMs);
        }
        const kept = accepted.slice(-maxSamples);
        const from = kept[3] ?? 0;
        expect([...ring.slice(-Infinity, Infinity).times]).toEqual(kept);
        expect([...ring.slice(from, atMs - 1).values]).toEqual(
          kept.filter((time) => time >= from && time <= atMs - 1).map((time) => time * 2),
        );
      }),
    );
  });
});

describe("TimeSeriesStore", () => {
  it("refuses more series than its limit, and makes room from outdated ones", () => {
    const store = new TimeSeriesStore({ maxSeries: 2, retentionMs: 1000 });
    store.append({ __name__: "a" }, 0, 1);
    store.append({ __name__: "b" }, 0, 1);
    expect(() => store.append({ __name__: "c" }, 500, 1)).toThrow("maximum of 2 time series");
    store.append({ __name__: "b" }, 600, 2);
    store.append({ __name__: "c" }, 1500, 1);
    expect(store.select([]).map(({ labels }) => labels[0]?.[1])).toEqual(["b", "c"]);
  });

  it("forgets samples older than the retention", () => {
    const store = new TimeSeriesStore({ retentionMs: 1000 });
    for (let atMs = 0; atMs <= 5000; atMs += 100) store.append({ __name__: "a" }, atMs, atMs);
    expect(store.select([])[0]?.slice(0, 9999).times[0]).toBe(4000);
    store.prune(6001);
    expect(store.size).toBe(0);
    expect(store.select([])).toEqual([]);
  });

  it("identifies series by labels in any order, without empty ones", () => {
    const store = new TimeSeriesStore();
    store.append({ __name__: "a", x: "1", y: "" }, 1, 1);
    store.append(
      [
        ["x", "1"],
        ["__name__", "a"],
      ],
      2,
      2,
    );
    expect(store.size).toBe(1);
    store.append({ __name__: "a", ["__proto__"]: "1" }, 1, 1);
    expect(store.size).toBe(2);
  });

  it("ends a series at once, unlike a gap", () => {
    const store = new TimeSeriesStore();
    const engine = new QueryEngine(store);
    const countAt = (atMs: number): number => {
      const result = engine.queryInstant("a", atMs);
      return result.type === "vector" ? result.series.length : -1;
    };
    store.append({ __name__: "a" }, 1000, 1);
    expect(countAt(60_000)).toBe(1);
    expect(store.end({ __name__: "a" }, 30_000)).toBe(true);
    expect(store.end({ __name__: "a" }, 40_000)).toBe(false);
    expect(countAt(29_999)).toBe(1);
    expect(countAt(30_000)).toBe(0);
    store.append({ __name__: "a" }, 50_000, 2);
    expect(countAt(60_000)).toBe(1);
    expect(engine.queryInstant("count_over_time(a[1m])", 60_000)).toMatchObject({
      series: [{ points: [{ value: 2 }] }],
    });
  });
});
