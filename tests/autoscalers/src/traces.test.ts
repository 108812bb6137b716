import { describe, expect, test } from "vitest";
import { generateTraces } from "../../../bench/autoscalers/traces/generate-traces.ts";
import { parseTrace } from "../../../bench/autoscalers/traces/read-traces.ts";

describe("generated traces", () => {
  const traces = generateTraces(200);
  const statistics = traces.map(({ counts }) => {
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
    return { cv: Math.sqrt(variance) / mean, peakToMean: Math.max(...counts) / mean };
  });
  const between = (values: readonly number[], low: number, high: number): number =>
    values.filter((value) => value >= low && value <= high).length;

  test("are the same for the same seed, and distinct", () => {
    expect(generateTraces(200)).toEqual(traces);
    expect(generateTraces(200, 1000)).not.toEqual(traces);
    expect(new Set(traces.map(({ name }) => name)).size).toBe(200);
  });

  test("cover the variation and the peaks of the recorded ones", () => {
    const [cv, peaks] = [statistics.map((one) => one.cv), statistics.map((one) => one.peakToMean)];
    expect(Math.min(...cv)).toBeLessThan(0.05);
    expect(Math.max(...cv)).toBeGreaterThan(15);
    for (const [low, high] of [
      [0, 0.2],
      [0.2, 1],
      [1, 4],
      [4, 19],
    ] as const)
      expect(between(cv, low, high)).toBeGreaterThanOrEqual(10);
    expect(Math.min(...peaks)).toBeLessThan(1.2);
    expect(Math.max(...peaks)).toBeGreaterThan(300);
    for (const [low, high] of [
      [1, 2],
      [2, 10],
      [10, 100],
      [100, 460],
    ] as const)
      expect(between(peaks, low, high)).toBeGreaterThanOrEqual(10);
  });

  test("have requests, whole minutes and durations", () => {
    for (const { counts, durationP50Ms, durationP99Ms } of traces) {
      expect(counts).toHaveLength(1440);
      expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
      expect(counts.some((count) => count > 0)).toBe(true);
      expect(durationP50Ms).toBeGreaterThan(0);
      expect(durationP99Ms).toBeGreaterThanOrEqual(durationP50Ms);
    }
  });
});

describe("recorded traces", () => {
  test("are read from a table of functions", () => {
    const text =
      "name,mean_per_min,cv,peak_to_mean,zero_share,duration_p50_ms,duration_p99_ms,invocations\nf0,1,2,3,4,50,60,7,0,9\n";
    expect(parseTrace("functions", text)).toEqual([
      { name: "f0", intervalMs: 60_000, counts: [7, 0, 9], durationP50Ms: 50, durationP99Ms: 60 },
    ]);
  });

  test("are read from a list of counts, two days at most", () => {
    const [trace] = parseTrace("load", `interval_seconds,3600\n${"5\n".repeat(100)}`);
    expect(trace).toMatchObject({ name: "load", intervalMs: 3_600_000, durationP50Ms: 1000 });
    expect(trace?.counts).toEqual(Array.from({ length: 48 }, () => 5));
  });

  test.each(["x", "-1", "Infinity"])("are rejected with the count %s", (count) => {
    expect(() => parseTrace("load", `interval_seconds,60\n${count}\n`)).toThrow(
      `Trace load: "${count}" is not a number of requests`,
    );
  });
});
