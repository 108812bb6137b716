import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadOf, rangeOf, type CapacityCurve, type CapacityPoint } from "./capacity.ts";
import { estimateCapacity, type CapacityQuestion } from "./estimate-capacity.ts";
import { EMPTY_CURVE, learnCapacity, reviseCurve, type Observation } from "./learn-capacity.ts";
import { DEFAULT_ANALYZER_SETTINGS } from "./settings.ts";
import { NOW } from "./testing/samples.ts";

const HOUR = 3_600_000;

/** 500 m with a target of 70 %. */
const QUESTION: CapacityQuestion = {
  nowMs: NOW,
  maxLatencyMs: 100,
  usableCpuMillicores: 350,
  settings: DEFAULT_ANALYZER_SETTINGS,
};

const point = (range: number, values: Partial<CapacityPoint>): CapacityPoint => ({
  range,
  count: 60,
  lastMs: NOW,
  ...values,
});
const curveOf = (...points: CapacityPoint[]): CapacityCurve => ({ learntUntilMs: NOW, points });

describe("rangeOf", () => {
  it("is the range of its smallest load", () => {
    for (let range = -60; range <= 200; range += 1) expect(rangeOf(loadOf(range))).toBe(range);
  });
});

describe("estimateCapacity", () => {
  it("assumes 1,000 requests per second without data", () => {
    // Bounds 250 and 2000 without confidence: half of the lower one, double the upper one.
    expect(estimateCapacity(EMPTY_CURVE, QUESTION)).toEqual({
      source: "assumed",
      rpsPerReplica: 1000,
      lower: 125,
      upper: 4000,
      hasHeadroom: false,
      latencyLimitMs: 100,
      isLatencyIndependent: false,
      confidence: 0,
    });
  });

  it("extrapolates from the CPU per request of the window", () => {
    // 350 m / 10 m per request per second = 35
    const estimate = estimateCapacity(EMPTY_CURVE, { ...QUESTION, window: { rps: 10, cpuMillicores: 100 } });
    expect(estimate).toMatchObject({ source: "cpu", rpsPerReplica: 35, rpsPerCore: 100, confidence: 0 });
  });

  it("separates the CPU of an idle replica from the CPU per request", () => {
    const cpu = (range: number) => 20 + 10 * loadOf(range);
    const points = [10, 20, 30].map((range) => point(range, { cpuMillicores: cpu(range) }));
    const estimate = estimateCapacity(curveOf(...points), QUESTION);
    // (350 - 20) / 10
    expect(estimate.rpsPerReplica).toBeCloseTo(33, 6);
    expect(estimate.rpsPerCore).toBeCloseTo(100, 6);
    // Half of it was seen: 1.1^30 = 17.4.
    expect(estimate).toMatchObject({ source: "measured", hasHeadroom: true });
    expect(estimateCapacity(curveOf(...points.slice(0, 2)), QUESTION)).toMatchObject({ source: "cpu" });
  });

  it("takes CPU as proportional to the load when all loads are similar", () => {
    const estimate = estimateCapacity(curveOf(point(24, { cpuMillicores: 10 * loadOf(24) })), QUESTION);
    expect(estimate.rpsPerReplica).toBeCloseTo(35, 6);
  });

  it("is the largest load that met the latency when the next one did not", () => {
    const estimate = estimateCapacity(
      curveOf(point(40, { latencyMs: 20 }), point(48, { latencyMs: 90 }), point(50, { latencyMs: 150, count: 10 })),
      QUESTION,
    );
    expect(estimate.sustainedRps).toBeCloseTo(97.02, 2);
    expect(estimate.saturatedRps).toBeCloseTo(117.39, 2);
    expect(estimate.rpsPerReplica).toBe(estimate.sustainedRps);
    // 130 / (130 + 10) = 0.93, in steps of 0.05
    expect(estimate).toMatchObject({ source: "measured", confidence: 0.95 });
  });

  it("is between a good and a bad load that are far apart", () => {
    const points = [point(24, { latencyMs: 20 }), point(48, { latencyMs: 300 })];
    // The geometric mean of 1.1^24 and 1.1^48 is 1.1^36.
    expect(estimateCapacity(curveOf(...points), QUESTION).rpsPerReplica).toBeCloseTo(loadOf(36), 6);
    // CPU says 50: it is between the two.
    const withCpu = points.map((given) => ({ ...given, cpuMillicores: 7 * loadOf(given.range) }));
    expect(estimateCapacity(curveOf(...withCpu), QUESTION).rpsPerReplica).toBeCloseTo(50, 6);
  });

  it("is below the only load that was seen when that was too slow", () => {
    const at = (latencyMs: number) => estimateCapacity(curveOf(point(48, { latencyMs })), QUESTION).rpsPerReplica;
    expect(at(125)).toBeCloseTo(loadOf(48) / 1.25, 6);
    expect(at(1000)).toBeCloseTo(loadOf(48) / 2, 6);
  });

  it("ignores a load that was seen twice, and a single exception among many observations", () => {
    const rare = curveOf(point(40, { latencyMs: 20 }), point(45, { latencyMs: 900, count: 2 }));
    expect(estimateCapacity(rare, QUESTION).saturatedRps).toBeUndefined();
    const noisy = curveOf(
      point(30, { latencyMs: 150, count: 5 }),
      point(40, { latencyMs: 20 }),
      point(45, { latencyMs: 30 }),
    );
    expect(estimateCapacity(noisy, QUESTION)).toMatchObject({ sustainedRps: loadOf(45), isLatencyIndependent: false });
  });

  it("notices that latency does not depend on the load", () => {
    // 1.1^16 = 4.6 times the load, and too slow everywhere.
    const curve = curveOf(point(30, { latencyMs: 150 }), point(38, { latencyMs: 160 }), point(46, { latencyMs: 155 }));
    const estimate = estimateCapacity(curve, QUESTION);
    expect(estimate).toMatchObject({ isLatencyIndependent: true, source: "assumed", rpsPerReplica: 1000 });
    // Twice the best latency limits the load instead.
    expect(estimate.latencyLimitMs).toBe(300);
    expect(estimate.saturatedRps).toBeUndefined();
    const overloaded = curveOf(...curve.points, point(50, { latencyMs: 400 }));
    expect(estimateCapacity(overloaded, QUESTION)).toMatchObject({
      isLatencyIndependent: true,
      sustainedRps: loadOf(46),
      saturatedRps: loadOf(50),
    });
  });

  it("keeps its value with age, loses confidence and widens its bounds", () => {
    const curve = curveOf(point(48, { latencyMs: 90 }), point(50, { latencyMs: 150 }));
    const now = estimateCapacity(curve, QUESTION);
    const later = estimateCapacity(curve, { ...QUESTION, nowMs: NOW + 48 * HOUR });
    expect(later.rpsPerReplica).toBe(now.rpsPerReplica);
    // Two half-lives: 120 / 130 / 4 = 0.23
    expect(later.confidence).toBe(0.25);
    expect(later.lower).toBeLessThan(now.lower);
    expect(later.upper).toBeGreaterThan(now.upper);
  });

  it("is finite, positive and within its bounds for any curve", () => {
    const anyPoint = fc.record(
      {
        range: fc.integer({ min: -40, max: 200 }),
        count: fc.integer({ min: 1, max: 60 }),
        latencyMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
        cpuMillicores: fc.double({ min: 0, max: 1e9, noNaN: true }),
        lastMs: fc.integer({ min: 0, max: NOW }),
      },
      { requiredKeys: ["range", "count", "lastMs"] },
    );
    const anyCurve = fc.uniqueArray(anyPoint, { maxLength: 20, selector: ({ range }) => range });
    fc.assert(
      fc.property(anyCurve, fc.boolean(), (points, hasLatency) => {
        const { maxLatencyMs, ...rest } = QUESTION;
        const question = hasLatency && maxLatencyMs !== undefined ? { ...rest, maxLatencyMs } : rest;
        const estimate = estimateCapacity(curveOf(...points.toSorted((a, b) => a.range - b.range)), question);
        expect(estimate.rpsPerReplica).toBeGreaterThan(0);
        expect(Number.isFinite(estimate.upper)).toBe(true);
        expect(estimate.lower).toBeGreaterThan(0);
        expect(estimate.lower).toBeLessThanOrEqual(estimate.rpsPerReplica);
        expect(estimate.rpsPerReplica).toBeLessThanOrEqual(estimate.upper);
        expect(estimate.confidence).toBeGreaterThanOrEqual(0);
        expect(estimate.confidence).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("learnCapacity", () => {
  const observe = (atMs: number, rpsPerReplica: number, latencyMs: number): Observation => ({
    atMs,
    rpsPerReplica,
    latencyMs,
    cpuMillicores: 5 * rpsPerReplica,
  });

  it("averages the observations of one range of load", () => {
    const curve = learnCapacity(EMPTY_CURVE, [observe(1, 100, 10), observe(2, 101, 40)], 2);
    // The geometric mean of 10 and 40, the mean of 500 and 505.
    expect(curve.points).toEqual([{ range: 48, count: 2, latencyMs: 20, cpuMillicores: 502.5, lastMs: 2 }]);
  });

  it("learns a sample once", () => {
    const once = learnCapacity(EMPTY_CURVE, [observe(1, 100, 10), observe(2, 50, 40)], 2);
    expect(learnCapacity(once, [observe(1, 100, 10), observe(2, 50, 40)], 2)).toBe(once);
    const more = learnCapacity(once, [observe(2, 50, 40), observe(3, 50, 40)], 3);
    expect(more.points.map(({ count }) => count)).toEqual([2, 1]);
  });

  it("replaces old observations of a load by new ones", () => {
    let curve = EMPTY_CURVE;
    for (let at = 1; at <= 200; at += 1) curve = learnCapacity(curve, [observe(at, 100, 10)], at);
    for (let at = 201; at <= 600; at += 1) curve = learnCapacity(curve, [observe(at, 100, 1000)], at);
    expect(curve.points[0]?.latencyMs).toBeGreaterThan(900);
    expect(curve.points[0]?.count).toBe(60);
  });

  it("stays bounded and sorted, and forgets the smallest loads first", () => {
    const loads = fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { maxLength: 300 });
    fc.assert(
      fc.property(loads, (given) => {
        const observations = given.map((load, index) => observe(index + 1, load, 10));
        const { points } = learnCapacity(EMPTY_CURVE, observations, given.length);
        expect(points.length).toBeLessThanOrEqual(72);
        for (let i = 1; i < points.length; i += 1) {
          expect(points[i]?.range).toBeGreaterThan(points[i - 1]?.range ?? 0);
        }
        const largest = Math.max(0.001, ...given);
        if (largest >= 0.01) expect(points.at(-1)?.range).toBe(rangeOf(largest));
      }),
      { numRuns: 30 },
    );
  });
});

describe("reviseCurve", () => {
  const learnt = reviseCurve(curveOf(point(40, { latencyMs: 20, cpuMillicores: 7 })), 99, "a");

  it("keeps what belongs to the revision and percentile", () => {
    expect(reviseCurve(learnt, 99, "a")).toBe(learnt);
  });

  it("lets new observations replace those of another revision", () => {
    expect(reviseCurve(learnt, 99, "b")).toMatchObject({ revision: "b", points: [{ count: 1, latencyMs: 20 }] });
  });

  it("forgets latencies of another percentile, not CPU", () => {
    expect(reviseCurve(learnt, 95, "a").points).toEqual([{ range: 40, count: 1, cpuMillicores: 7, lastMs: NOW }]);
  });
});
