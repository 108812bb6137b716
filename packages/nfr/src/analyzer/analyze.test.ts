import { describe, expect, it } from "vitest";
import { analyze } from "./analyze.ts";
import type { AnalysisInput } from "./analysis.ts";
import type { FindingReason } from "./finding.ts";
import { constantSamples, inputOf, NOW, windowOf } from "./testing/samples.ts";

describe("analyze", () => {
  it("recommends nothing and knows nothing without data", () => {
    const requirements = { minThroughputRps: 10, maxLatencyMs: 100, availability: 0.999, maxErrorRate: 0.01 };
    const { recommendations, compliance, findings, badness } = analyze(inputOf({ requirements }));
    expect(recommendations).toEqual([]);
    expect(compliance.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
    expect(findings).toEqual([{ reason: "no-data", signals: [], detail: "no signal has a sample in the window" }]);
    expect(badness).toBeUndefined();
  });

  it("sizes by CPU until the capacity is known", () => {
    const samples = constantSamples({ requests_per_second: 100, cpu_millicores: 1000 });
    const [replicas] = analyze(inputOf({ samples })).recommendations;
    // 1000 m / (500 m * 0.7) = 2.86
    expect(replicas).toMatchObject({ target: 3, observedAtMs: NOW, basis: { values: { cpu_replicas: 2.86 } } });
  });
});

describe("findings", () => {
  const from = (step: number, before: number, after: number) => windowOf((index) => (index < step ? before : after));
  const load = constantSamples({ requests_per_second: 10, cpu_millicores: 50 }).signals;
  const curve = { revision: "a", percentile: 99, learntUntilMs: 0, points: [{ range: 1, count: 9, lastMs: NOW }] };

  interface Row {
    readonly reason: FindingReason;
    readonly given: Partial<AnalysisInput>;
    readonly detail: string;
    readonly signals?: readonly string[];
  }
  const samples = (signals: AnalysisInput["samples"]["signals"]) => ({ samples: { signals, pods: {} } });
  const rows: readonly Row[] = [
    {
      reason: "cold-start",
      given: samples({ ...load, ready_replicas: from(18, 1, 3) }),
      detail: "replicas started 30 s ago",
      signals: ["ready_replicas"],
    },
    {
      reason: "restarts",
      given: samples({ ...load, restarts: from(10, 4, 5) }),
      detail: "a container restarted 270 s ago",
      signals: ["restarts"],
    },
    {
      reason: "oom-kills",
      given: samples({ ...load, oom_kills: from(19, 0, 1) }),
      detail: "a container ran out of memory 0 s ago",
      signals: ["oom_kills"],
    },
    {
      reason: "counter-reset",
      given: samples({ ...load, restarts: from(19, 4, 0) }),
      detail: "restarts began again 0 s ago",
      signals: ["restarts"],
    },
    {
      reason: "cpu-throttled",
      given: samples({ ...load, cpu_throttled_ratio: windowOf(0.4) }),
      detail: "CPU was throttled in 40 % of the periods",
      signals: ["cpu_throttled_ratio"],
    },
    {
      reason: "data-outdated",
      given: samples(constantSamples({ requests_per_second: 10 }, NOW - 240_000).signals),
      detail: "the newest sample is 240 s old",
      signals: ["requests_per_second"],
    },
    {
      reason: "too-few-samples",
      given: samples({ requests_per_second: windowOf(10).slice(-2) }),
      detail: "2 of at least 3 samples",
      signals: ["requests_per_second"],
    },
    {
      reason: "too-few-requests",
      given: samples({ requests_per_second: windowOf(0.03) }),
      detail: "18 of 30 requests: no latency and error verdicts",
      signals: ["requests_per_second"],
    },
    {
      reason: "signal-missing",
      given: { ...samples(load), requirements: { maxLatencyMs: 100, availability: 0.9 } },
      detail: "latency_p99_ms has no samples",
      signals: ["latency_p99_ms", "errors_per_second"],
    },
    {
      reason: "revision-changed",
      given: { ...samples(load), revision: "b", state: { verdicts: {}, curve, requests: {} } },
      detail: "the capacity of revision b is learnt again",
      signals: [],
    },
  ];
  it.each(rows)("names $reason", ({ reason, given, detail, signals }) => {
    expect(analyze(inputOf(given)).findings).toContainEqual({ reason, detail, signals });
  });

  it("are empty for good data", () => {
    const good = constantSamples({ requests_per_second: 10, cpu_millicores: 50, ready_replicas: 1, restarts: 3 });
    expect(analyze(inputOf({ samples: good })).findings).toEqual([]);
  });
});

describe("outdated data", () => {
  it("changes nothing: no recommendation, no verdict, and the state stands", () => {
    const requirements = { maxLatencyMs: 100 };
    const samples = constantSamples({ requests_per_second: 100, latency_p99_ms: 50, cpu_millicores: 700 });
    const before = analyze(inputOf({ requirements, samples }));
    const after = analyze(inputOf({ requirements, samples, state: before.state, nowMs: NOW + 200_000 }));
    expect(after.recommendations).toEqual([]);
    expect(after.compliance[0]?.status).toBe("unknown");
    expect(after.dataAgeMs).toBe(200_000);
    expect(after.state.target).toBe(before.state.target);
    expect(after.state.curve).toEqual(before.state.curve);
    expect(after.state.requests).toEqual(before.state.requests);
  });

  it("does not learn from replicas that are starting", () => {
    const signals = {
      ...constantSamples({ requests_per_second: 100, latency_p99_ms: 900 }).signals,
      ready_replicas: windowOf((index) => (index < 18 ? 1 : 2)),
    };
    const { curve } = analyze(inputOf({ samples: { signals, pods: {} } })).state;
    // Only the 18 steps before the change; the two after it are mixed with it.
    expect(curve.points.map(({ count }) => count)).toEqual([18]);
  });
});
