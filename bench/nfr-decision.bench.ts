import type { ComponentSamples, PolicyState, Sample, Signal } from "@oaas/nfr";
import { analyze, DEFAULT_ANALYZER_SETTINGS, type Analysis, type AnalyzerState } from "@oaas/nfr/analyzer";
import { decide, DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { Bench, Measurement } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const TICKS = scaled(2_000);
const ROUNDS = 9;
const STEP_MS = DEFAULT_ANALYZER_SETTINGS.stepMs;
const WINDOW = DEFAULT_ANALYZER_SETTINGS.windowMs / STEP_MS;

/** All signals of one function, around these values. */
const USUAL: Readonly<Record<Signal, number>> = {
  requests_per_second: 300,
  latency_p50_ms: 10,
  latency_p95_ms: 40,
  latency_p99_ms: 80,
  errors_per_second: 0.1,
  slow_requests_per_second: 1,
  cpu_millicores: 900,
  cpu_throttled_ratio: 0.01,
  memory_bytes: 1e8,
  restarts: 0,
  oom_kills: 0,
  availability: 1,
  queue_length: 3,
  ready_replicas: 4,
};
const NOISY: ReadonlySet<string> = new Set(["requests_per_second", "latency_p99_ms", "cpu_millicores"]);

/** Samples of all ticks, with a noise of 20 % that is the same in every run. */
const series = Object.fromEntries(
  Object.entries(USUAL).map(([signal, value]) => [
    signal,
    Array.from({ length: TICKS + WINDOW }, (_, step): Sample => {
      const noise = NOISY.has(signal) ? 1 + 0.1 * Math.sin(step * 12.9898 + signal.length) : 1;
      return { atMs: step * STEP_MS, value: value * noise };
    }),
  ]),
);

function samplesAt(tick: number): ComponentSamples {
  const signals = Object.fromEntries(
    Object.entries(series).map(([signal, samples]) => [signal, samples.slice(tick, tick + WINDOW)]),
  );
  return { signals, pods: {} };
}

function analyzeTick(samples: ComponentSamples, nowMs: number, state: AnalyzerState | undefined): Analysis {
  return analyze({
    nowMs,
    component: "resize",
    requirements: { minThroughputRps: 200, maxLatencyMs: 100, availability: 0.999, maxErrorRate: 0.01 },
    scale: { current: 4, min: 1, max: 20, cpuRequestMillicores: 500 },
    samples,
    ...(state === undefined ? {} : { state }),
    settings: DEFAULT_ANALYZER_SETTINGS,
  });
}

function decideTick({ recommendations, urgency, badness }: Analysis, nowMs: number, state: PolicyState) {
  const [recommendation] = recommendations;
  return decide(
    {
      nowMs,
      mode: "enforce",
      component: "resize",
      dimension: "replicas",
      isAllowed: true,
      ...(recommendation === undefined ? {} : { recommendation }),
      current: 4,
      minimums: [{ value: 1, source: "min_scale" }],
      maximums: [{ value: 20, source: "max_scale" }],
      urgency,
      blockers: [],
      isFrozen: false,
      leaderSinceMs: 0,
      ...(badness === undefined ? {} : { badness }),
      state,
    },
    DEFAULT_POLICY,
  );
}

/** One round: every tick of a class in order, with the state of the tick before. Returns microseconds. */
function runRound() {
  const times = { analysis: [] as number[], decision: [] as number[], copy: [] as number[] };
  let state: AnalyzerState | undefined;
  let policyState: PolicyState = { targets: [], directionChangesMs: [] };
  for (let tick = 0; tick < TICKS; tick += 1) {
    const samples = samplesAt(tick);
    const nowMs = (tick + WINDOW - 1) * STEP_MS;
    const start = performance.now();
    const analysis = analyzeTick(samples, nowMs, state);
    const analyzed = performance.now();
    policyState = decideTick(analysis, nowMs, policyState).next;
    const decided = performance.now();
    structuredClone(samples);
    times.copy.push((performance.now() - decided) * 1000);
    times.decision.push((decided - analyzed) * 1000);
    times.analysis.push((analyzed - start) * 1000);
    ({ state } = analysis);
  }
  return { times, state };
}

function at(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** The analysis of one function with all signals and requirements, and the decision. The budget is 50 µs together. */
export const bench: Bench = {
  name: "nfr-decision",
  async run(log) {
    runRound();
    log(`${ROUNDS} rounds of ${TICKS} ticks`);
    const rounds = Array.from({ length: ROUNDS }, runRound);
    const usual = (of: "analysis" | "decision" | "copy", share: number): number =>
      median(rounds.map(({ times }) => at(times[of], share)));
    const state = rounds.at(-1)?.state;
    const measurements: Measurement[] = [
      { name: "analysis: median", value: usual("analysis", 0.5), unit: "µs", note: "14 signals, 4 requirements" },
      { name: "analysis: p99", value: usual("analysis", 0.99), unit: "µs" },
      { name: "decision: median", value: usual("decision", 0.5), unit: "µs", note: "all gates" },
      { name: "decision: p99", value: usual("decision", 0.99), unit: "µs" },
      { name: "state of the analyzer", value: JSON.stringify(state).length / 1024, unit: "KiB", note: "as JSON" },
    ];
    return {
      title: "Requirements: one analysis and decision of one function",
      measurements,
      ratios: [
        {
          name: "copy of the samples / analysis and decision",
          value: usual("copy", 0.5) / (usual("analysis", 0.5) + usual("decision", 0.5)),
          floor: 0.5,
          explains: "An analysis with its decision costs no more than two copies of its samples.",
        },
      ],
    };
  },
};
