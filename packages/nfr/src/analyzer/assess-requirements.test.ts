import { describe, expect, it } from "vitest";
import type { ComplianceStatus } from "../compliance.ts";
import type { Signal } from "../samples.ts";
import type { RequirementTargets } from "./analysis.ts";
import { analyze } from "./analyze.ts";
import { constantSamples, inputOf, NOW, windowOf } from "./testing/samples.ts";

interface Row {
  readonly why: string;
  readonly requirements: RequirementTargets;
  readonly values: Partial<Record<Signal, number>>;
  readonly status: ComplianceStatus;
  readonly measured?: number;
  readonly reason?: string;
}

const ROWS: readonly Row[] = [
  {
    why: "80 % of the throughput is served",
    requirements: { minThroughputRps: 100 },
    values: { requests_per_second: 80 },
    status: "met",
    measured: 80,
  },
  {
    why: "less is served, and nothing waits",
    requirements: { minThroughputRps: 100 },
    values: { requests_per_second: 2, queue_length: 1 },
    status: "met",
    measured: 2,
    reason: "the demand is smaller, and all of it is served",
  },
  {
    why: "nothing is requested",
    requirements: { minThroughputRps: 100 },
    values: { requests_per_second: 0 },
    status: "met",
    measured: 0,
    reason: "the demand is smaller, and all of it is served",
  },
  {
    why: "less is served while requests wait: 500 - 79 * 1 s",
    requirements: { minThroughputRps: 100 },
    values: { requests_per_second: 79, queue_length: 500 },
    status: "violated",
    measured: 79,
    reason: "421 requests wait",
  },
  {
    why: "less is served while requests fail",
    requirements: { minThroughputRps: 100 },
    values: { requests_per_second: 50, errors_per_second: 5 },
    status: "violated",
    measured: 50,
    reason: "10 % of the requests fail",
  },
  {
    why: "the rate is not measured",
    requirements: { minThroughputRps: 100 },
    values: { cpu_millicores: 50 },
    status: "unknown",
    reason: "no usable samples of requests_per_second in the last 10m",
  },
  {
    why: "latency at its requirement",
    requirements: { maxLatencyMs: 100 },
    values: { requests_per_second: 10, latency_p99_ms: 100 },
    status: "met",
    measured: 100,
  },
  {
    why: "latency above its requirement",
    requirements: { maxLatencyMs: 100 },
    values: { requests_per_second: 10, latency_p99_ms: 100.5 },
    status: "violated",
    measured: 100.5,
  },
  {
    why: "30 requests are enough: 0.05 * 600 s",
    requirements: { maxLatencyMs: 100 },
    values: { requests_per_second: 0.05, latency_p99_ms: 100 },
    status: "met",
    measured: 100,
  },
  {
    why: "29 requests are not",
    requirements: { maxLatencyMs: 100 },
    values: { requests_per_second: 29 / 600, latency_p99_ms: 900 },
    status: "unknown",
    reason: "too few requests: 29 of 30",
  },
  {
    why: "requests without a latency",
    requirements: { maxLatencyMs: 100 },
    values: { requests_per_second: 10, latency_p95_ms: 5 },
    status: "unknown",
    reason: "no usable samples of latency_p99_ms in the last 10m",
  },
  {
    why: "availability by requests",
    requirements: { availability: 0.999 },
    values: { requests_per_second: 100, errors_per_second: 0.2, ready_replicas: 1 },
    status: "violated",
    measured: 0.998,
  },
  {
    why: "availability by ready replicas without enough requests",
    requirements: { availability: 0.999 },
    values: { requests_per_second: 0.01, errors_per_second: 0.01, ready_replicas: 1 },
    status: "met",
    measured: 1,
  },
  {
    why: "no replica is ready",
    requirements: { availability: 0.999 },
    values: { ready_replicas: 0 },
    status: "violated",
    measured: 0,
  },
  {
    why: "neither requests nor replicas are known",
    requirements: { availability: 0.999 },
    values: { cpu_millicores: 1 },
    status: "unknown",
    reason: "no usable samples of requests_per_second in the last 10m",
  },
  {
    why: "the error rate at its objective",
    requirements: { maxErrorRate: 0.01 },
    values: { requests_per_second: 100, errors_per_second: 1 },
    status: "met",
    measured: 0.01,
  },
  {
    why: "the error rate above its objective",
    requirements: { maxErrorRate: 0.01 },
    values: { requests_per_second: 100, errors_per_second: 1.1 },
    status: "violated",
    measured: 0.011,
  },
  {
    why: "too few requests for an error rate",
    requirements: { maxErrorRate: 0.01 },
    values: { requests_per_second: 0.04, errors_per_second: 0.04 },
    status: "unknown",
    reason: "too few requests: 24 of 30",
  },
];

describe("assessRequirements", () => {
  it.each(ROWS)("$status: $why", ({ requirements, values, status, measured, reason }) => {
    const [compliance, ...others] = analyze(inputOf({ requirements, samples: constantSamples(values) })).compliance;
    expect(others).toEqual([]);
    expect(compliance).toMatchObject({ component: "resize", status, window: "10m", sinceMs: NOW });
    expect(compliance?.measured).toBe(measured);
    expect(compliance?.reason).toBe(reason);
  });

  it("keeps the time of the last change of a status", () => {
    const requirements = { maxLatencyMs: 100 };
    const samples = constantSamples({ requests_per_second: 10, latency_p99_ms: 150 });
    const first = analyze(inputOf({ requirements, samples }));
    const nowMs = NOW + 30_000;
    const second = analyze(inputOf({ requirements, samples, nowMs, state: first.state }));
    expect(second.compliance[0]).toMatchObject({ status: "violated", sinceMs: NOW });
    const better = constantSamples({ requests_per_second: 10, latency_p99_ms: 50 }, nowMs);
    const third = analyze(inputOf({ requirements, samples: better, nowMs, state: second.state }));
    expect(third.compliance[0]).toMatchObject({ status: "met", sinceMs: nowMs });
  });

  it("weights latencies by their requests", () => {
    const signals = {
      requests_per_second: windowOf((index) => (index < 10 ? 90 : 10)),
      latency_p99_ms: windowOf((index) => (index < 10 ? 50 : 250)),
    };
    // (90 * 50 + 10 * 250) / 100
    const input = inputOf({ requirements: { maxLatencyMs: 100 }, samples: { signals, pods: {} } });
    expect(analyze(input).compliance[0]?.measured).toBe(70);
  });

  it("computes burn rates and the budget left", () => {
    const requirements = { availability: 0.99, maxLatencyMs: 100 };
    const values = { requests_per_second: 100, errors_per_second: 5, slow_requests_per_second: 2, latency_p99_ms: 120 };
    const step = 300_000;
    const times = Array.from({ length: 864 }, (_, index) => NOW - (863 - index) * step);
    const history = {
      requests_per_second: times.map((atMs) => ({ atMs, value: 100 })),
      // 1 % for three days, 5 % in the last hour.
      errors_per_second: times.map((atMs) => ({ atMs, value: atMs > NOW - 3_600_000 ? 5 : 1 })),
      slow_requests_per_second: times.map((atMs) => ({ atMs, value: 0.5 })),
    };
    const { compliance, urgency } = analyze(inputOf({ requirements, samples: constantSamples(values), history }));
    const byRequirement = Object.fromEntries(compliance.map((entry) => [entry.requirement, entry]));
    // Over 6 h: (1 * 5 % + 5 * 1 %) / 6 = 1.67 %, and so on, divided by 1 %.
    expect(byRequirement["availability"]).toMatchObject({
      errorBudgetLeft: -0.06,
      burnRates: [
        { long: "1h", short: "5m", longRate: 5, shortRate: 5 },
        { long: "6h", short: "30m", longRate: 1.67, shortRate: 5 },
        { long: "1d", short: "2h", longRate: 1.17, shortRate: 3 },
        { long: "3d", short: "6h", longRate: 1.06, shortRate: 1.67 },
      ],
    });
    // 0.5 % slow of 1 % allowed; 2 % in the samples that are not in the history: the last five minutes.
    expect(byRequirement["latency"]?.burnRates[0]).toMatchObject({ shortRate: 2 });
    expect(urgency).toMatchObject({ burnRate5m: 5, burnRate1h: 5 });
  });

  it("names the range of the shortest burn rate when the samples cover less than five minutes", () => {
    const input = inputOf({
      requirements: { availability: 0.99 },
      samples: constantSamples({ requests_per_second: 100, errors_per_second: 5 }),
    });
    const { compliance } = analyze({ ...input, settings: { ...input.settings, windowMs: 45_000 } });
    expect(compliance[0]?.burnRates.map(({ long, short }) => `${long}/${short}`)).toEqual([
      "1h/45s",
      "6h/30m",
      "1d/2h",
      "3d/6h",
    ]);
  });

  it.each([
    { why: "starts, then is ready", values: [0, 0, 0, 1, 1, 1], expected: { status: "met", measured: 1 } },
    { why: "fails after its start", values: [0, 0, 1, 1, 0, 1], expected: { status: "violated", measured: 0.75 } },
    { why: "has not been ready yet", values: [0, 0, 0, 0], expected: { status: "unknown" } },
  ])("does not count the start of a new class that $why", ({ values, expected }) => {
    const ready = windowOf((index) => values[index - 20 + values.length] ?? 0).slice(-values.length);
    const samples = { signals: { ready_replicas: ready }, pods: {} };
    const [compliance] = analyze(inputOf({ requirements: { availability: 0.99 }, samples })).compliance;
    expect(compliance).toMatchObject(expected);
  });

  it("counts a failure at the start of the window of an older class", () => {
    const samples = { signals: { ready_replicas: windowOf((index) => (index < 10 ? 0 : 1)) }, pods: {} };
    const [compliance] = analyze(inputOf({ requirements: { availability: 0.99 }, samples })).compliance;
    expect(compliance).toMatchObject({ status: "violated", measured: 0.5 });
  });

  it("has no burn rate below 30 requests", () => {
    const samples = constantSamples({ requests_per_second: 0.04, errors_per_second: 0.04, ready_replicas: 1 });
    const [compliance] = analyze(inputOf({ requirements: { availability: 0.99 }, samples })).compliance;
    expect(compliance?.burnRates.every((rate) => rate.longRate === undefined && rate.shortRate === undefined)).toBe(
      true,
    );
    expect(compliance?.errorBudgetLeft).toBeUndefined();
  });
});

describe("urgency", () => {
  const requirements = { maxLatencyMs: 100 };

  it("is the newest latency relative to the requirement, since it exceeds the urgent ratio", () => {
    const signals = {
      requests_per_second: windowOf(100),
      latency_p99_ms: windowOf((index) => (index < 16 ? 80 : 160 + index)),
    };
    const { urgency, state, badness } = analyze(inputOf({ requirements, samples: { signals, pods: {} } }));
    expect(urgency).toEqual({ ratio: 1.79, ratioSinceMs: NOW - 3 * 30_000 });
    expect(state.urgentSinceMs).toBe(NOW - 90_000);
    // (16 * 80 + 176 + 177 + 178 + 179) / 20 = 99.5
    expect(badness).toBeCloseTo(0.995, 6);
  });

  it("remembers the start, and forgets it when the ratio falls", () => {
    const slow = constantSamples({ requests_per_second: 100, latency_p99_ms: 200 });
    const first = analyze(inputOf({ requirements, samples: slow }));
    expect(first.urgency.ratioSinceMs).toBe(NOW - 570_000);
    const later = NOW + 30_000;
    const state = { ...first.state, urgentSinceMs: 12_345 };
    const second = analyze(inputOf({ requirements, samples: slow, nowMs: later, state }));
    expect(second.state.urgentSinceMs).toBe(12_345);
    // Samples that are 30 s old show only the 30 s that they cover.
    expect(second.urgency.ratioSinceMs).toBe(12_345 + 30_000);
    const fast = constantSamples({ requests_per_second: 100, latency_p99_ms: 20 }, later);
    const third = analyze(inputOf({ requirements, samples: fast, nowMs: later, state }));
    expect(third.urgency).toEqual({ ratio: 0.2 });
    expect(third.state.urgentSinceMs).toBeUndefined();
  });

  it("is none when the load that caused the latency has ended", () => {
    const burst = (end: number) => ({
      // Rates over two minutes of one minute of load: they stay for a minute after its end.
      requests_per_second: windowOf((index) =>
        index < end - 4 ? 0 : index < end ? [100, 200, 200, 200][index - end + 4]! : 100,
      ),
      latency_p99_ms: windowOf((index) => (index < end - 4 ? 20 : 400)),
    });
    const urgencyOf = (end: number) =>
      analyze(inputOf({ requirements, samples: { signals: burst(end), pods: {} } })).urgency.ratio;
    expect(urgencyOf(22)).toBe(4);
    expect(urgencyOf(21)).toBeUndefined();
  });
});
