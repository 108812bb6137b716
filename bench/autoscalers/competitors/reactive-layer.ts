import type { Autoscaler, Workload } from "@oaas/nfr/simulation";
import { PROMETHEUS } from "./metrics-source.ts";

/**
 * An autoscaler reacts within the limits of its spec, and our policy moves its minimum: the reactive layer of a class with
 * an HPA or a Knative Service.
 */
export function withReactiveLayer(
  workload: Workload,
  reactive: (workload: Workload) => Autoscaler,
  policy: Autoscaler,
): Autoscaler {
  let minReplicas = workload.minReplicas;
  const layer = reactive({
    ...workload,
    get minReplicas() {
      return minReplicas;
    },
  });
  const { scrapeMs = PROMETHEUS.scrapeMs, lagMs = PROMETHEUS.lagMs } = layer;
  let nextPolicyMs = 0;
  return {
    intervalMs: layer.intervalMs,
    scrapeMs,
    lagMs,
    latencyEveryMs: PROMETHEUS.scrapeMs,
    historyMs: Math.max(layer.historyMs, policy.historyMs + PROMETHEUS.lagMs),
    decide: (observation) => {
      const { nowMs, scrapes } = observation;
      if (nowMs >= nextPolicyMs) {
        nextPolicyMs = nowMs - (nowMs % policy.intervalMs) + policy.intervalMs;
        const known = scrapes.filter(
          ({ atMs }) => atMs % PROMETHEUS.scrapeMs === 0 && atMs <= nowMs - PROMETHEUS.lagMs,
        );
        minReplicas = policy.decide({ ...observation, scrapes: known, replicas: minReplicas });
      }
      return layer.decide({
        ...observation,
        scrapes: scrapes.filter(({ atMs }) => atMs > nowMs - lagMs - layer.historyMs),
      });
    },
  };
}
