import { describe, expect, it } from "vitest";
import type { Sample, Signal } from "../samples.ts";
import type { Analysis, AnalysisInput, AnalyzerState } from "./analysis.ts";
import { analyze } from "./analyze.ts";
import { inputOf, NOW } from "./testing/samples.ts";

const STEP = 30_000;

/** A function whose latency grows as that of a queue, and which serves at most 100 requests per second per replica. */
interface Plant {
  /** Demand at each step. */
  readonly demand: (step: number) => number;
  /** Latency without load. */
  readonly baseMs: number;
  readonly cpuPerRequest: number;
}

const CAPACITY = 100;
const START_STEPS = 2;

/** Applies every target at once; replicas are ready two steps later. */
function run(plant: Plant, steps: number, given: Partial<AnalysisInput>) {
  const series: Partial<Record<Signal, Sample[]>> = {};
  const record = (signal: Signal, sample: Sample) => {
    (series[signal] ??= []).push(sample);
    if ((series[signal]?.length ?? 0) > 20) series[signal]?.shift();
  };
  const targets: number[] = [];
  const latencies: number[] = [];
  let state: AnalyzerState | undefined;
  let last: Analysis | undefined;
  for (let step = 0; step < steps; step += 1) {
    const atMs = NOW + step * STEP;
    const ready = Math.max(1, Math.min(targets.at(-1) ?? 1, targets.at(-1 - START_STEPS) ?? 1));
    const rps = Math.min(plant.demand(step), ready * CAPACITY);
    const use = Math.min(plant.demand(step) / (ready * CAPACITY), 0.99);
    const latencyMs = plant.baseMs / (1 - use);
    record("requests_per_second", { atMs, value: rps });
    record("latency_p99_ms", { atMs, value: latencyMs });
    record("cpu_millicores", { atMs, value: ready * 20 + plant.cpuPerRequest * rps });
    record("ready_replicas", { atMs, value: ready });
    const current = targets.at(-1) ?? 1;
    last = analyze(
      inputOf({
        nowMs: atMs,
        samples: { signals: structuredClone(series), pods: {} },
        ...(state === undefined ? {} : { state }),
        ...given,
        scale: { max: 50, ...given.scale, current },
      }),
    );
    state = last.state;
    targets.push(last.recommendations[0]?.target ?? current);
    latencies.push(latencyMs);
  }
  return { targets, latencies, last };
}

/** Three percent of noise, the same in every run. */
const noisy = (rps: number) => (step: number) => rps * (1 + 0.03 * Math.sin(step * 12.9898) * Math.cos(step * 78.233));

const changes = (targets: readonly number[]) =>
  targets.filter((target, i) => i > 0 && target !== targets[i - 1]).length;

const HOUR = 120;

describe("analyze in a closed loop", () => {
  const requirements = { maxLatencyMs: 100 };

  it("finds the replicas of a load and stays there", () => {
    // 20 ms / (1 - 0.8) = 100 ms: one replica serves 80 requests per second, and 400 * 1.2 / 80 = 6.
    const { targets, latencies, last } = run({ demand: noisy(400), baseMs: 20, cpuPerRequest: 3 }, 4 * HOUR, {
      requirements,
    });
    const settled = targets.slice(-2 * HOUR);
    expect(changes(settled)).toBe(0);
    expect(settled[0]).toBeGreaterThanOrEqual(6);
    expect(settled[0]).toBeLessThanOrEqual(8);
    expect(Math.max(...latencies.slice(-3 * HOUR))).toBeLessThanOrEqual(100);
    expect(last?.compliance[0]?.status).toBe("met");
  });

  it("follows a load that doubles and falls again", () => {
    const demand = (step: number) => noisy(step >= 4 * HOUR && step < 8 * HOUR ? 800 : 300)(step);
    const { targets, latencies } = run({ demand, baseMs: 20, cpuPerRequest: 3 }, 12 * HOUR, { requirements });
    const [low, high, again] = [4, 8, 12].map((hours) => targets[hours * HOUR - 1] ?? 0);
    expect(high).toBeGreaterThanOrEqual(10);
    expect(high).toBeLessThanOrEqual(16);
    expect(low).toBeLessThanOrEqual(7);
    expect(again).toBeLessThanOrEqual(7);
    expect(changes(targets.slice(6 * HOUR, 8 * HOUR))).toBe(0);
    expect(changes(targets.slice(-2 * HOUR))).toBe(0);
    expect(Math.max(...latencies.slice(5 * HOUR))).toBeLessThanOrEqual(100);
  });

  it("does not scale without end when more replicas do not help", () => {
    // 150 ms without any load. Twice the best latency is kept instead: 200 * 1.2 / 50 = 4.8.
    const { targets, latencies, last } = run({ demand: noisy(200), baseMs: 150, cpuPerRequest: 1 }, 6 * HOUR, {
      requirements,
    });
    expect(Math.max(...targets)).toBeLessThanOrEqual(32);
    expect(changes(targets.slice(-HOUR))).toBe(0);
    expect(targets.at(-1)).toBeLessThanOrEqual(8);
    expect(Math.max(...latencies.slice(-HOUR))).toBeLessThanOrEqual(400);
    expect(last?.findings.map(({ reason }) => reason)).toContain("latency-independent-of-load");
    expect(last?.compliance[0]?.status).toBe("violated");
  });

  it("sizes by CPU without a latency requirement", () => {
    // 400 * 4 m + 20 m per replica, at 350 m per replica: 1600 / 330 = 4.8.
    const { targets } = run({ demand: noisy(400), baseMs: 5, cpuPerRequest: 4 }, 2 * HOUR, {});
    expect(targets.at(-1)).toBeGreaterThanOrEqual(5);
    expect(targets.at(-1)).toBeLessThanOrEqual(6);
    expect(changes(targets.slice(-HOUR))).toBe(0);
  });
});
