import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnalyzerState } from "./analysis.ts";
import { analyze } from "./analyze.ts";
import type { CapacityCurve, CapacityEstimate } from "./capacity.ts";
import { isSameCapacity, loadCapacity, saveCapacity, type CapacityCheckpoint } from "./capacity-checkpoint.ts";
import { learnCapacity, MAX_POINTS } from "./learn-capacity.ts";
import { constantSamples, inputOf, NOW } from "./testing/samples.ts";

const STEP = 30_000;
const MINUTE = 60_000;
const estimate = (rpsPerReplica: number, confidence: number): CapacityEstimate => ({
  source: "measured",
  rpsPerReplica,
  lower: rpsPerReplica,
  upper: rpsPerReplica,
  hasHeadroom: false,
  isLatencyIndependent: false,
  confidence,
});

const observations = fc.array(
  fc.record(
    {
      rpsPerReplica: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
      latencyMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
      cpuMillicores: fc.double({ min: 0, max: 64_000, noNaN: true }),
    },
    { requiredKeys: ["rpsPerReplica"] },
  ),
  { minLength: 1, maxLength: 200 },
);
const curve: fc.Arbitrary<CapacityCurve> = observations.map((list) => {
  const timed = list.map((one, index) => ({ ...one, atMs: NOW + index * STEP }));
  const empty = { revision: "abc", percentile: 99, learntUntilMs: 0, points: [] };
  return learnCapacity(empty, timed, NOW + list.length * STEP);
});
/** As a status stores it. */
const store = (saved: CapacityCheckpoint | undefined): CapacityCheckpoint =>
  JSON.parse(JSON.stringify(saved)) as CapacityCheckpoint;

describe("a checkpoint of the capacity", () => {
  it("restores the curve exactly, within 8 KiB", () => {
    fc.assert(
      fc.property(curve, (learnt) => {
        const saved = store(saveCapacity(learnt, estimate(100, 0.7)));
        expect(saved.points.length).toBeLessThan(8192);
        expect(loadCapacity(saved)).toEqual(learnt);
      }),
    );
  });

  it("has 72 points at most", () => {
    const text = Array.from({ length: MAX_POINTS + 1 }, (_, index) => `${index},3,1,1,0`).join(";");
    const saved = { learntUntilMs: NOW, points: text, rpsPerReplica: 1, confidence: 1 };
    expect(loadCapacity(saved)).toBeUndefined();
  });

  it.each(["", "x", "1,2,3,4", "1,0,3,4,5", "1,61,3,4,5", "1,2,-3,4,5", "1,2,NaN,4,5", "2,3,,,0;1,3,,,0", "1,3,,,0;1,3,,,0", "1,3,,,-1", "1e9,3,,,0", "1.5,3,,,0"])(
    "that is %j is a loss of history",
    (points) => {
      expect(loadCapacity({ learntUntilMs: NOW, points, rpsPerReplica: 1, confidence: 1 })).toBeUndefined();
    },
  ); // prettier-ignore

  it("never throws for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.double(), (points, learntUntilMs) => {
        loadCapacity({ learntUntilMs, points, rpsPerReplica: 1, confidence: 1 });
      }),
    );
  });
});

describe("isSameCapacity", () => {
  const learnt: CapacityCurve = { revision: "a", percentile: 99, learntUntilMs: NOW, points: [{ range: 1, count: 3, lastMs: NOW }] }; // prettier-ignore
  const written = saveCapacity(learnt, estimate(100, 0.6));
  it.each([
    { case: "the same", same: true },
    { case: "more observations", same: true, to: estimate(103, 0.8) },
    { case: "another capacity", same: false, to: estimate(110, 0.6) },
    { case: "too little confidence", same: false, to: estimate(100, 0.45) },
    { case: "another revision", same: false, curve: { ...learnt, revision: "b" } },
    { case: "another percentile", same: false, curve: { ...learnt, percentile: 95 } },
  ])("$case", ({ same, to = estimate(100, 0.6), curve: next = learnt }) => {
    expect(isSameCapacity(written, next, to, 0.5)).toBe(same);
  });

  it("nothing is the same as nothing learnt", () => {
    expect(isSameCapacity(undefined, { learntUntilMs: NOW, points: [] }, estimate(1000, 0), 0.5)).toBe(true);
    expect(isSameCapacity(undefined, learnt, estimate(1000, 0), 0.5)).toBe(false);
  });
});

const loads = fc.array(
  fc.record({
    requests_per_second: fc.double({ min: 0, max: 3000, noNaN: true }),
    latency_p99_ms: fc.double({ min: 1, max: 500, noNaN: true }),
    cpu_millicores: fc.double({ min: 0, max: 4000, noNaN: true }),
    ready_replicas: fc.integer({ min: 1, max: 10 }),
  }),
  { minLength: 2, maxLength: 12 },
);

/** Analyzes one window per load. Before the window `restartAt` the state is lost; `restore` says what remains of the curve. */
function recommendEach(
  windows: readonly Record<string, number>[],
  restartAt: number | undefined,
  restore: (state: AnalyzerState, learnt: CapacityEstimate) => CapacityCurve | undefined,
) {
  let state: AnalyzerState | undefined;
  let learnt = estimate(1000, 0);
  let previousTarget: number | undefined;
  return windows.map((values, index) => {
    const nowMs = NOW + index * 10 * MINUTE;
    const isRestart = index === restartAt;
    const restoredCurve = isRestart && state !== undefined ? restore(state, learnt) : undefined;
    const analysis = analyze(
      inputOf({
        nowMs,
        requirements: { maxLatencyMs: 200 },
        scale: { current: 3, max: 1000 },
        samples: constantSamples(values, nowMs),
        revision: "a",
        ...(state === undefined || isRestart ? {} : { state }),
        ...(isRestart && previousTarget !== undefined ? { previousTarget } : {}),
        ...(restoredCurve === undefined ? {} : { restoredCurve }),
      }),
    );
    ({ state, learntCapacity: learnt } = analysis);
    const [replicas] = analysis.recommendations;
    previousTarget = replicas?.target ?? previousTarget;
    return replicas;
  });
}

describe("analyze after a restart", () => {
  it("recommends the same from the stored capacity, at any time", () => {
    fc.assert(
      fc.property(loads, fc.nat({ max: 11 }), (windows, at) => {
        const restartAt = 1 + (at % (windows.length - 1));
        const steady = recommendEach(windows, undefined, () => undefined);
        const restarted = recommendEach(windows, restartAt, ({ curve: last }, learnt) => {
          const saved = saveCapacity(last, learnt);
          return saved === undefined ? last : loadCapacity(store(saved));
        });
        expect(restarted).toEqual(steady);
      }),
    );
  });

  it("recommends at least the last target without it", () => {
    fc.assert(
      fc.property(loads, fc.nat({ max: 11 }), (windows, at) => {
        const restartAt = 1 + (at % (windows.length - 1));
        const [before, after] = recommendEach(windows, restartAt, () => undefined).slice(restartAt - 1);
        if (before === undefined || after === undefined) return;
        expect(after.target).toBeGreaterThanOrEqual(before.target);
      }),
    );
  });
});
