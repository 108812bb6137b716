import { analyze } from "../analyzer/analyze.ts";
import type { Analysis, AnalyzerState, RequirementTargets } from "../analyzer/analysis.ts";
import type { AnalyzerSettings } from "../analyzer/settings.ts";
import type { PolicyDecision, PolicySettings, PolicyState } from "../enforcement.ts";
import { recommendMinimum } from "../policy/autoscaler.ts";
import { decide } from "../policy/decide.ts";
import type { ComponentSamples, Sample, Signal } from "../samples.ts";
import type { Scrape } from "../simulation/plant.ts";
import type { Autoscaler, Observation } from "../simulation/simulate.ts";
import type { Workload } from "../simulation/workload.ts";

/** The interval of Prometheus. */
const SCRAPE_MS = 15_000;

export interface PolicyAutoscalerOptions {
  readonly component: string;
  readonly requirements: RequirementTargets;
  readonly analyzer: AnalyzerSettings;
  readonly policy: PolicySettings;
  readonly tickMs: number;
  /** CPU of a replica that serves as many requests as it can. */
  readonly replicaMillicores: number;
  /** Whether the replicas are the minimum of another autoscaler. */
  readonly isMinimum?: boolean;
  /** The target of that autoscaler, 0 to 1, when the policy may move it. */
  readonly utilization?: () => number;
  /** Called with every decision. */
  readonly onDecision?: (observation: Observation, decision: PolicyDecision, analysis: Analysis) => void;
}

/** Our analyzer and policy on the replicas of a simulated component, with the samples that Prometheus would return. */
export function createPolicyAutoscaler(workload: Workload, options: PolicyAutoscalerOptions): Autoscaler {
  const {
    component,
    requirements,
    analyzer,
    policy,
    tickMs,
    replicaMillicores,
    isMinimum = false,
    utilization,
    onDecision,
  } = options;
  const { minReplicas, maxReplicas, concurrency } = workload;
  const samples = new ScrapedSamples(analyzer, concurrency, replicaMillicores);
  let analyzerState: AnalyzerState | undefined;
  let policyState: PolicyState = { targets: [], directionChangesMs: [] };
  return {
    intervalMs: tickMs,
    historyMs: analyzer.rateWindowMs + tickMs,
    latencyEveryMs: SCRAPE_MS,
    decide: (observation) => {
      const { nowMs, scrapes, replicas, ready } = observation;
      const analysis = analyze({
        nowMs,
        component,
        requirements,
        scale: { current: replicas, min: minReplicas, max: maxReplicas, cpuRequestMillicores: replicaMillicores },
        samples: samples.read(scrapes, nowMs),
        settings: analyzer,
        ...(analyzerState === undefined ? {} : { state: analyzerState }),
      });
      analyzerState = analysis.state;
      const recommended = analysis.recommendations.find(({ dimension }) => dimension === "replicas");
      const recommendation = recommended && isMinimum ? recommendMinimum(recommended, replicas) : recommended;
      const decision = decide(
        {
          nowMs,
          mode: "enforce",
          component,
          dimension: "replicas",
          isAllowed: true,
          ...(recommendation === undefined ? {} : { recommendation }),
          current: replicas,
          ...(utilization === undefined ? {} : { utilization: utilization() }),
          minimums: [{ value: minReplicas, source: "min_scale" }],
          maximums: [{ value: maxReplicas, source: "max_scale" }],
          urgency: analysis.urgency,
          blockers: ready < replicas ? ["progressing"] : [],
          isFrozen: false,
          leaderSinceMs: Number.NEGATIVE_INFINITY,
          ...(analysis.badness === undefined ? {} : { badness: analysis.badness }),
          state: policyState,
        },
        policy,
      );
      policyState = decision.next;
      onDecision?.(observation, decision, analysis);
      return decision.action === "hold" ? replicas : decision.to;
    },
  };
}

/** The signals at each step, with rates over the window of the queries. Samples of earlier reads are kept. */
class ScrapedSamples {
  readonly #analyzer: AnalyzerSettings;
  readonly #concurrency: number;
  readonly #replicaMillicores: number;
  readonly #signals: Partial<Record<Signal, Sample[]>> = {};
  #readUntilMs = Number.NEGATIVE_INFINITY;

  constructor(analyzer: AnalyzerSettings, concurrency: number, replicaMillicores: number) {
    this.#analyzer = analyzer;
    this.#concurrency = concurrency;
    this.#replicaMillicores = replicaMillicores;
  }

  read(scrapes: readonly Scrape[], nowMs: number): ComponentSamples {
    const { windowMs, stepMs } = this.#analyzer;
    for (const [index, scrape] of scrapes.entries()) {
      if (scrape.atMs <= this.#readUntilMs || scrape.atMs % stepMs !== 0) continue;
      this.#readUntilMs = scrape.atMs;
      this.#add(scrape, scrapes.slice(0, index + 1));
    }
    for (const series of Object.values(this.#signals)) {
      while (series.length > 0 && (series[0] as Sample).atMs <= nowMs - windowMs) series.shift();
    }
    return { signals: this.#signals, pods: {} };
  }

  #add(now: Scrape, known: readonly Scrape[]): void {
    const before = known.findLast(({ atMs }) => atMs <= now.atMs - this.#analyzer.rateWindowMs) ?? known[0];
    if (before === undefined || before === now) return;
    const { atMs, ready, starting } = now;
    const seconds = (atMs - before.atMs) / 1000;
    const latencies = now.latencies.since(before.latencies);
    const busy = (now.busyMs - before.busyMs) / (1000 * seconds) / this.#concurrency;
    const values: Readonly<Partial<Record<Signal, number | undefined>>> = {
      requests_per_second: (now.arrived - before.arrived) / seconds,
      errors_per_second: (now.failed - before.failed) / seconds,
      slow_requests_per_second: (now.slow - before.slow) / seconds,
      latency_p50_ms: latencies.quantile(0.5),
      latency_p95_ms: latencies.quantile(0.95),
      latency_p99_ms: latencies.quantile(0.99),
      cpu_millicores: busy * this.#replicaMillicores,
      queue_length: now.queueLength,
      ready_replicas: ready,
      availability: ready / Math.max(1, ready + starting),
    };
    for (const [signal, value] of Object.entries(values)) {
      if (value !== undefined) (this.#signals[signal as Signal] ??= []).push({ atMs, value });
    }
  }
}
