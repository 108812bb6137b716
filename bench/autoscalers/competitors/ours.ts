import { analyze, DEFAULT_ANALYZER_SETTINGS, type AnalysisInput, type AnalyzerState } from "@oaas/nfr/analyzer";
import { decide, DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { ComponentSamples, PolicySettings, PolicyState, Sample, Signal } from "@oaas/nfr";
import type { Autoscaler, Scrape, Workload } from "@oaas/nfr/simulation";

/** The rate window of the queries, in scrapes of 15 s. */
const RATE_SCRAPES = 4;
/** CPU of a replica that serves as many requests as it can. */
const REPLICA_MILLICORES = 1000;
const COMPONENT = "function";

/**
 * Our analyzer and enforcement policy on the replicas of a Deployment, with the samples that Prometheus would return.
 */
export function ours(workload: Workload, settings: Partial<PolicySettings> = {}): Autoscaler {
  const { windowMs, rateWindowMs } = DEFAULT_ANALYZER_SETTINGS;
  const policy: PolicySettings = { ...DEFAULT_POLICY, maxReplicas: workload.maxReplicas, ...settings };
  let analyzerState: AnalyzerState | undefined;
  let policyState: PolicyState = { targets: [], directionChangesMs: [] };
  return {
    intervalMs: 30_000,
    historyMs: windowMs + rateWindowMs,
    decide: ({ nowMs, scrapes, replicas, ready }) => {
      const input: AnalysisInput = {
        nowMs,
        component: COMPONENT,
        requirements: { maxLatencyMs: workload.latencyTargetMs, latencyPercentile: 95 },
        scale: {
          current: replicas,
          min: workload.minReplicas,
          max: workload.maxReplicas,
          cpuRequestMillicores: REPLICA_MILLICORES,
        },
        samples: samplesOf(scrapes, workload.concurrency),
        settings: DEFAULT_ANALYZER_SETTINGS,
        ...(analyzerState === undefined ? {} : { state: analyzerState }),
      };
      const analysis = analyze(input);
      analyzerState = analysis.state;
      const recommendation = analysis.recommendations.find(({ dimension }) => dimension === "replicas");
      const decision = decide(
        {
          nowMs,
          mode: "enforce",
          component: COMPONENT,
          dimension: "replicas",
          isAllowed: true,
          ...(recommendation === undefined ? {} : { recommendation }),
          current: replicas,
          minimums: [{ value: workload.minReplicas, source: "min_scale" }],
          maximums: [{ value: workload.maxReplicas, source: "max_scale" }],
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
      return decision.action === "hold" ? replicas : decision.to;
    },
  };
}

/** The signals at each scrape, with rates over the last minute. */
function samplesOf(scrapes: readonly Scrape[], concurrency: number): ComponentSamples {
  const signals: Partial<Record<Signal, Sample[]>> = {};
  const add = (signal: Signal, atMs: number, value: number | undefined): void => {
    if (value !== undefined) (signals[signal] ??= []).push({ atMs, value });
  };
  for (const [index, now] of scrapes.entries()) {
    const before = scrapes[index - RATE_SCRAPES];
    if (before === undefined) continue;
    const { atMs } = now;
    const seconds = (atMs - before.atMs) / 1000;
    const latencies = now.latencies.since(before.latencies);
    add("requests_per_second", atMs, (now.arrived - before.arrived) / seconds);
    add("errors_per_second", atMs, (now.failed - before.failed) / seconds);
    add("slow_requests_per_second", atMs, (now.slow - before.slow) / seconds);
    add("latency_p50_ms", atMs, latencies.quantile(0.5));
    add("latency_p95_ms", atMs, latencies.quantile(0.95));
    add("latency_p99_ms", atMs, latencies.quantile(0.99));
    add("cpu_millicores", atMs, ((now.busyMs - before.busyMs) / (1000 * seconds) / concurrency) * REPLICA_MILLICORES);
    add("queue_length", atMs, now.queueLength);
    add("ready_replicas", atMs, now.ready);
    add("availability", atMs, now.ready / Math.max(1, now.ready + now.starting));
  }
  return { signals, pods: {} };
}
