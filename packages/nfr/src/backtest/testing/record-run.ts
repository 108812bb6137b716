import { digestJson } from "@oaas/foundation/hash";
import { analyze } from "../../analyzer/analyze.ts";
import type { AnalyzerState } from "../../analyzer/analysis.ts";
import { DEFAULT_ANALYZER_SETTINGS } from "../../analyzer/settings.ts";
import type { PolicyInput, PolicyState } from "../../enforcement.ts";
import { decide } from "../../policy/decide.ts";
import { recordDecision, type DecisionRecord } from "../../policy/record.ts";
import { DEFAULT_POLICY } from "../../policy/settings.ts";
import type { Sample, Signal } from "../../samples.ts";
import type { RecordedComponent, Recording } from "../recording.ts";

const TICK_MS = 30_000;
const START_MS = Date.UTC(2026, 10, 16, 8);
const RPS_PER_REPLICA = 50;
const REQUIREMENTS = { maxLatencyMs: 200 };

/** Requests per second at each tick: an hour of normal load, a spike, and quiet time. */
export function loadOf(tick: number): number {
  if (tick < 120) return 80 + 20 * Math.sin(tick / 10);
  return tick < 180 ? 400 : 60;
}

/**
 * Runs the analyzer and the policy on a component that reacts, as the class runtime manager does, and records samples
 * and decisions.
 */
export function recordRun(ticks = 300): Recording {
  const signals: Partial<Record<Signal, Sample[]>> = {};
  const decisions: DecisionRecord[] = [];
  let analyzerState: AnalyzerState | undefined;
  let state: PolicyState = { targets: [], directionChangesMs: [] };
  let current = 3;
  for (let tick = 0; tick < ticks; tick += 1) {
    const nowMs = START_MS + tick * TICK_MS;
    measure(signals, nowMs, loadOf(tick), current);
    const samples = windowOf(signals, nowMs);
    const analysis = analyze({
      nowMs,
      component: "echo",
      requirements: REQUIREMENTS,
      scale: { current, min: 2, max: 20, cpuRequestMillicores: 500 },
      samples,
      settings: DEFAULT_ANALYZER_SETTINGS,
      ...(analyzerState === undefined ? {} : { state: analyzerState }),
    });
    analyzerState = analysis.state;
    const [recommendation] = analysis.recommendations;
    const input: PolicyInput = {
      nowMs,
      mode: "enforce",
      component: "echo",
      dimension: "replicas",
      isAllowed: true,
      ...(recommendation === undefined ? {} : { recommendation }),
      current,
      minimums: [{ value: 2, source: "min_scale" }],
      maximums: [{ value: 20, source: "HPA echo maxReplicas" }],
      urgency: analysis.urgency,
      blockers: [],
      isFrozen: false,
      leaderSinceMs: START_MS - 3_600_000,
      ...(analysis.badness === undefined ? {} : { badness: analysis.badness }),
      state,
    };
    const decision = decide(input, DEFAULT_POLICY);
    state = decision.next;
    if (decision.action === "hold") continue;
    decisions.push(recordDecision(input, DEFAULT_POLICY, decision, digestJson(samples)));
    current = decision.to;
  }
  const scale: RecordedComponent["scale"] = { current: 3, min: 2, max: 20, cpuRequestMillicores: 500 };
  const component = { component: "echo", requirements: REQUIREMENTS, scale, signals, decisions };
  return { tickMs: TICK_MS, components: [component] };
}

/** Latency grows with the load of a replica, and CPU is 8 ms per request. */
function measure(signals: Partial<Record<Signal, Sample[]>>, atMs: number, rps: number, replicas: number): void {
  const load = rps / replicas / RPS_PER_REPLICA;
  const latencyMs = load < 0.95 ? 20 / (1 - load) : 400 * load;
  const values: Partial<Record<Signal, number>> = {
    requests_per_second: rps,
    errors_per_second: 0,
    slow_requests_per_second: latencyMs > 200 ? rps / 2 : 0,
    latency_p50_ms: latencyMs / 3,
    latency_p95_ms: latencyMs / 1.5,
    latency_p99_ms: latencyMs,
    cpu_millicores: 8 * Math.min(rps, replicas * RPS_PER_REPLICA),
    ready_replicas: replicas,
    availability: 1,
  };
  for (const [signal, value] of Object.entries(values)) (signals[signal as Signal] ??= []).push({ atMs, value });
}

function windowOf(signals: Readonly<Partial<Record<Signal, readonly Sample[]>>>, nowMs: number) {
  const startMs = nowMs - DEFAULT_ANALYZER_SETTINGS.windowMs;
  const entries = Object.entries(signals).map(([signal, series]) => [
    signal,
    series.filter(({ atMs }) => atMs > startMs),
  ]);
  return { signals: Object.fromEntries(entries) as typeof signals, pods: {} };
}
