import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Signal } from "../samples.ts";
import type { AnalysisInput, AnalyzerState } from "./analysis.ts";
import { analyze } from "./analyze.ts";
import { loadOf, type CapacityPoint } from "./capacity.ts";
import { replicasForAvailability, shareReserve } from "./recommend-replicas.ts";
import { DEFAULT_ANALYZER_SETTINGS } from "./settings.ts";
import { constantSamples, inputOf, NOW, windowOf } from "./testing/samples.ts";

/** A state whose model knows that one replica serves 97.02 requests per second within 100 ms, with confidence 0.9. */
function stateWith(given: Partial<AnalyzerState> = {}): AnalyzerState {
  const seen = (range: number, latencyMs: number): CapacityPoint => ({ range, count: 60, latencyMs, lastMs: NOW });
  const curve = { percentile: 99, learntUntilMs: NOW, points: [seen(48, 90), seen(50, 150)] };
  return { verdicts: {}, curve, requests: {}, ...given };
}

const CAPACITY = loadOf(48);

function replicasOf(values: Partial<Record<Signal, number>>, given: Partial<AnalysisInput> = {}) {
  const [replicas] = analyze(inputOf({ samples: constantSamples(values), ...given })).recommendations;
  return replicas;
}

interface Row {
  readonly why: string;
  readonly values: Partial<Record<Signal, number>>;
  readonly given?: Partial<AnalysisInput>;
  readonly target: number;
  readonly floor?: string;
  readonly query?: string;
  readonly confidence?: number;
}

const LATENCY = { maxLatencyMs: 100 };

const ROWS: readonly Row[] = [
  {
    why: "CPU at 70 % of 500 m: 1000 / 350 = 2.86",
    values: { cpu_millicores: 1000 },
    target: 3,
    query: "cpu_millicores",
    confidence: 0.6,
  },
  {
    why: "CPU at 70 % of the stated request: 1000 / (1000 * 0.7) = 1.43",
    values: { cpu_millicores: 1000 },
    given: { scale: { current: 1, cpuRequestMillicores: 1000 } },
    target: 2,
  },
  {
    why: "the rule of the first manager at a target of 100 %: ceil(1000 / 500)",
    values: { cpu_millicores: 1000 },
    given: { scale: { current: 1, cpuTarget: 1 } },
    target: 2,
  },
  {
    why: "the assumed capacity with 20 % headroom: 2600 * 1.2 / 1000 = 3.12",
    values: { requests_per_second: 2600 },
    target: 4,
    query: "requests_per_second",
    confidence: 0.3,
  },
  {
    why: "the required throughput at the assumed capacity, without demand: 3500 / 1000",
    values: { requests_per_second: 0 },
    given: { requirements: { minThroughputRps: 3500 } },
    target: 4,
    floor: "min_throughput_rps",
  },
  {
    why: "the required throughput at the CPU per request: 500 rps * (100 m / 10 rps) / 350 m = 14.3",
    values: { requests_per_second: 10, cpu_millicores: 100 },
    given: { requirements: { minThroughputRps: 500 } },
    target: 15,
    floor: "min_throughput_rps",
  },
  {
    why: "the CPU of an idle replica says nothing about requests: 20 m is less than 20 % of 350 m",
    values: { requests_per_second: 0.1, cpu_millicores: 20 },
    given: { requirements: { minThroughputRps: 500 } },
    target: 1,
  },
  {
    why: "cheap requests do not raise the assumed capacity before they were seen: 2500 / 1000",
    values: { requests_per_second: 500, cpu_millicores: 100 },
    given: { requirements: { minThroughputRps: 2500 } },
    target: 3,
  },
  {
    why: "the measured capacity with 20 % headroom: 300 * 1.2 / 97.02 = 3.71",
    values: { requests_per_second: 300, latency_p99_ms: 50 },
    given: { requirements: LATENCY, state: stateWith() },
    target: 4,
    confidence: 0.9,
  },
  {
    why: "the required throughput at the measured capacity, without headroom: 290 / 97.02 = 2.99",
    values: { requests_per_second: 1 },
    given: { requirements: { ...LATENCY, minThroughputRps: 290 }, state: stateWith() },
    target: 3,
    floor: "min_throughput_rps",
  },
  {
    why: "waiting requests are drained in a minute: (90 + (609 - 90 * 0.1) / 60) * 1.2 / 97.02 = 1.24",
    values: { requests_per_second: 90, queue_length: 609 },
    given: { requirements: LATENCY, state: stateWith() },
    target: 2,
  },
  {
    why: "requests in progress do not wait: 90 * 0.1 of them are expected, and 80 * 1.2 / 97.02 = 0.99",
    values: { requests_per_second: 80, queue_length: 8 },
    given: { requirements: LATENCY, state: stateWith() },
    target: 1,
  },
  {
    why: "CPU does not count with a confident model and no stated request",
    values: { requests_per_second: 80, cpu_millicores: 2000 },
    given: { requirements: LATENCY, state: stateWith() },
    target: 1,
  },
  {
    why: "CPU of a stated request counts always: 2000 / 350 = 5.7",
    values: { requests_per_second: 80, cpu_millicores: 2000 },
    given: { requirements: LATENCY, state: stateWith(), scale: { current: 1, cpuRequestMillicores: 500 } },
    target: 6,
  },
  {
    why: "a small latency violation adds one replica",
    values: { requests_per_second: 100, latency_p99_ms: 110, ready_replicas: 3 },
    given: { requirements: LATENCY, scale: { current: 3 } },
    target: 4,
    query: "latency_p99_ms",
  },
  {
    why: "a latency violation scales by its ratio: ceil(4 * 1.5)",
    values: { requests_per_second: 100, latency_p99_ms: 150, ready_replicas: 4 },
    given: { requirements: LATENCY, scale: { current: 4 } },
    target: 6,
  },
  {
    why: "a latency violation doubles the replicas at most",
    values: { requests_per_second: 100, latency_p99_ms: 9000, ready_replicas: 4 },
    given: { requirements: LATENCY, scale: { current: 4 } },
    target: 8,
  },
  {
    why: "replicas that are starting count: 2 of 4 are ready",
    values: { requests_per_second: 100, latency_p99_ms: 9000, ready_replicas: 2 },
    given: { requirements: LATENCY, scale: { current: 4 } },
    target: 4,
  },
  {
    why: "latency that was met at twice the load is not caused by it",
    values: { requests_per_second: 40, latency_p99_ms: 900, ready_replicas: 2 },
    given: { requirements: LATENCY, scale: { current: 2 }, state: stateWith() },
    target: 2,
  },
  {
    why: "the p95 is required, so the p99 does not matter",
    values: { requests_per_second: 100, latency_p99_ms: 900, latency_p95_ms: 90 },
    given: { requirements: { ...LATENCY, latencyPercentile: 95 }, scale: { current: 2 } },
    target: 1,
  },
  {
    why: "99.9 % with replicas of 99 % needs two",
    values: { requests_per_second: 1 },
    given: { requirements: { availability: 0.999 } },
    target: 2,
    floor: "availability",
    confidence: 1,
  },
  {
    why: "the user's minimum",
    values: { requests_per_second: 1 },
    given: { scale: { current: 5, min: 3 } },
    target: 3,
    floor: "min_scale",
    confidence: 1,
  },
  { why: "one replica without demand", values: { requests_per_second: 0 }, target: 1, floor: "min_scale" },
  {
    why: "no replica without demand where that is possible",
    values: { requests_per_second: 0 },
    given: { scale: { current: 1, canScaleToZero: true } },
    target: 0,
    floor: "min_scale",
  },
  {
    why: "a decrease that saves less than 10 % is not worth it: 3.7 * 1.1 = 4.07",
    values: { requests_per_second: 3700 / 1.2 },
    given: { scale: { current: 5 }, state: { ...stateWith(), curve: { learntUntilMs: 0, points: [] }, target: 5 } },
    target: 5,
  },
  {
    why: "a decrease that saves more is: 3.6 * 1.1 = 3.96",
    values: { requests_per_second: 3000 },
    given: { scale: { current: 5 }, state: { ...stateWith(), curve: { learntUntilMs: 0, points: [] }, target: 5 } },
    target: 4,
  },
];

describe("recommendReplicas", () => {
  it.each(ROWS)("$target: $why", ({ values, given, target, floor, query, confidence }) => {
    const replicas = replicasOf(values, given);
    expect(replicas?.target).toBe(target);
    if (floor !== undefined) expect(replicas?.basis.floor).toBe(floor);
    if (query !== undefined) expect(replicas?.basis.query).toBe(query);
    if (confidence !== undefined) expect(replicas?.confidence).toBe(confidence);
  });

  it("explains the numbers", () => {
    const given = { requirements: LATENCY, state: stateWith(), queries: { requests_per_second: "http requests" } };
    const replicas = replicasOf({ requests_per_second: 300, latency_p99_ms: 50 }, given);
    expect(replicas).toEqual({
      component: "resize",
      dimension: "replicas",
      target: 4,
      // 300 * 1.2 / (117.39 * 1.1) = 2.79 and 300 * 1.2 / (97.02 * 0.95) = 3.91
      lowerBound: 3,
      upperBound: 4,
      lasting: { replicas: 4, stated: 1, isWithinBudget: false, ready: 1 },
      basis: {
        window: "10m",
        query: "http requests",
        values: {
          requests_per_second: 300,
          peak_requests_per_second: 300,
          latency_p99_ms: 50,
          ready_replicas: 1,
          rps_per_replica: 97,
          capacity_confidence: 0.9,
          sustained_rps: 97,
          saturated_rps: 117,
          demand_replicas: 3.71,
          minimum_replicas: 1,
        },
      },
      confidence: 0.9,
      current: 1,
      observedAtMs: NOW,
      validUntilMs: NOW + 300_000,
    });
    expect(CAPACITY).toBeCloseTo(97.02, 2);
  });

  it("stops at the maximum and says so", () => {
    const replicas = replicasOf({ requests_per_second: 9000 }, { scale: { current: 1, max: 6 } });
    expect(replicas).toMatchObject({ target: 6, upperBound: 6, basis: { ceiling: "max_scale" } });
  });

  it("waits for the effect of a change before latency adds more replicas", () => {
    const at = (changedSteps: number) => {
      const samples = constantSamples({ requests_per_second: 100, latency_p99_ms: 200 });
      const ready = windowOf((index) => (index < 20 - changedSteps ? 2 : 4));
      const signals = { ...samples.signals, ready_replicas: ready };
      const input = inputOf({ samples: { signals, pods: {} }, requirements: LATENCY, scale: { current: 4 } });
      return analyze(input).recommendations[0]?.target;
    };
    // A change is settled after 30 s for the start and 120 s for the rates.
    expect([at(1), at(5), at(6), at(7)]).toEqual([4, 4, 4, 8]);
  });

  it("smooths the demand with a half-life of one minute", () => {
    const step = windowOf((index) => (index < 18 ? 0 : 1000));
    const input = inputOf({ samples: { signals: { requests_per_second: step }, pods: {} } });
    // Two samples of 30 s: half of the step.
    expect(analyze(input).recommendations[0]?.basis.values["requests_per_second"]).toBe(500);
  });

  it.each([
    [0.9, 1],
    [0.99, 1],
    [0.999, 2],
    [0.9999, 2],
    [0.99999, 3],
    [1, 5],
  ])("availability %d needs %d replicas", (required, expected) => {
    expect(replicasForAvailability(required, 0.99)).toBe(expected);
  });
});

describe("the reserve of many replicas", () => {
  const given = { scale: { current: 1 }, settings: DEFAULT_ANALYZER_SETTINGS };
  const anyReplicas = fc.double({ min: 0, max: 1e6, noNaN: true });

  it.each([
    ["7.7 replicas at 70 % are 5.4 busy ones: no change", 7.7, 7.7],
    ["10 at 70 % are 7 busy ones and their square root", 10, 7 + Math.sqrt(7)],
    ["50 at 70 % are 35 busy ones and their square root", 50, 35 + Math.sqrt(35)],
    ["1000 at 70 % are 700 busy ones at 90 %", 1000, 700 / 0.9],
  ])("%s", (_title, replicas, expected) => {
    expect(shareReserve(replicas, given)).toBeCloseTo(expected, 6);
  });

  it("never grows, never exceeds the largest share of CPU, and rises with the load", () => {
    fc.assert(
      fc.property(anyReplicas, anyReplicas, (a, b) => {
        const [less, more] = [shareReserve(Math.min(a, b), given), shareReserve(Math.max(a, b), given)];
        expect(less).toBeLessThanOrEqual(more);
        expect(more).toBeLessThanOrEqual(Math.max(a, b));
        expect(more * 0.9).toBeGreaterThanOrEqual(Math.max(a, b) * 0.7 * (1 - 1e-9));
      }),
    );
  });

  it("keeps a CPU target that the class states", () => {
    expect(shareReserve(50, { ...given, scale: { current: 1, cpuTarget: 0.7 } })).toBe(50);
    const values = { requests_per_second: 700, cpu_millicores: 17_500 };
    const scale = { current: 50, cpuRequestMillicores: 500 };
    expect(replicasOf(values, { scale })?.target).toBe(41);
    expect(replicasOf(values, { scale: { ...scale, cpuTarget: 0.7 } })?.target).toBe(50);
  });
});

describe("the headroom of demand", () => {
  /** One replica served 97.02 requests per second at 82 % of its CPU, within 100 ms. */
  const seen: CapacityPoint = { range: 48, count: 60, latencyMs: 40, cpuMillicores: 410, lastMs: NOW };
  const targetOf = (points: readonly CapacityPoint[], scale: AnalysisInput["scale"]) => {
    const curve = { percentile: 99, learntUntilMs: NOW, points };
    const state = { verdicts: {}, curve, requests: {} };
    const values = { requests_per_second: 40 * CAPACITY, cpu_millicores: 40 * 410, latency_p99_ms: 40 };
    return replicasOf(values, { requirements: LATENCY, scale, state })?.target;
  };
  const scale = { current: 40, cpuRequestMillicores: 500 };

  it("is left to the rule of CPU where CPU is the limit", () => {
    // 32.8 busy replicas and their square root; 40 without any reserve.
    expect(targetOf([seen], scale)).toBe(40);
  });

  it("stays where the CPU request is not stated, or where latency was too high at some load", () => {
    expect(targetOf([seen], { current: 40 })).toBe(48);
    expect(targetOf([seen, { ...seen, range: 50, latencyMs: 150 }], scale)).toBe(48);
  });
});

describe("loss of history", () => {
  it("holds the last target and widens the bounds", () => {
    const samples = constantSamples({ requests_per_second: 300, latency_p99_ms: 50 });
    const input = inputOf({ samples, requirements: LATENCY, scale: { current: 4 } });
    const known = analyze({ ...input, state: stateWith({ target: 4 }) });
    const lost = analyze({ ...input, previousTarget: 4 });
    expect(lost.recommendations[0]).toMatchObject({ target: 4, basis: { floor: "history-lost" }, confidence: 0.1 });
    expect(lost.findings.map(({ reason }) => reason)).toContain("history-lost");
    expect(lost.recommendations[0]?.upperBound).toBeGreaterThanOrEqual(known.recommendations[0]?.upperBound ?? 0);
    expect(lost.state.hold).toEqual({ target: 4, untilMs: NOW + 3_600_000 });
  });

  it("ends when the time is over or the model is confident", () => {
    const hold = { target: 4, untilMs: NOW + 1 };
    const samples = constantSamples({ requests_per_second: 30 });
    const empty = { verdicts: {}, curve: { learntUntilMs: 0, points: [] }, requests: {} };
    const targetOf = (given: Partial<AnalysisInput>) =>
      analyze(inputOf({ samples, requirements: LATENCY, ...given })).recommendations[0]?.target;
    expect(targetOf({ state: { ...empty, hold } })).toBe(4);
    expect(targetOf({ state: { ...empty, hold: { ...hold, untilMs: NOW } } })).toBe(1);
    expect(targetOf({ state: stateWith({ hold }) })).toBe(1);
  });

  it("does not lower the target while half of the window is missing", () => {
    const recent = windowOf(10).slice(-9);
    const input = inputOf({ samples: { signals: { requests_per_second: recent }, pods: {} } });
    const [replicas] = analyze({ ...input, state: stateWith({ target: 6 }) }).recommendations;
    expect(replicas).toMatchObject({ target: 6, basis: { floor: "incomplete-data" } });
  });
});

describe("what lasts", () => {
  it("is the smallest load of the window, and what the user stated", () => {
    const signals = { requests_per_second: windowOf((index) => (index === 3 ? CAPACITY : 5 * CAPACITY)) };
    const requirements = { ...LATENCY, minThroughputRps: CAPACITY };
    const [replicas] = analyze(
      inputOf({ requirements, samples: { signals, pods: {} }, state: stateWith(), scale: { current: 3 } }),
    ).recommendations;
    expect(replicas?.target).toBeGreaterThan(4);
    expect(replicas?.lasting).toEqual({ replicas: 2, stated: 1, isWithinBudget: false, ready: 3 });
  });
});
