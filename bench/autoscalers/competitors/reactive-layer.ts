import type { Autoscaler, Workload } from "@oaas/nfr/simulation";

/** What Prometheus would return: a scrape every 15 s, 30 s late. */
const SCRAPE_MS = 15_000;
const LAG_MS = 30_000;

/**
 * An autoscaler reacts within the limits of its spec, and our policy moves its minimum: the reactive layer of a class with
 * an HPA or a Knative Service.
 */
export function withReactiveLayer(
  workload: Workload,
  reactive: (workload: Workload) => Autoscaler,
  policy: (workload: Workload) => Autoscaler,
): Autoscaler {
  let minReplicas = workload.minReplicas;
  const layer = reactive({
    ...workload,
    get minReplicas() {
      return minReplicas;
    },
  });
  const ours = policy(workload);
  const { scrapeMs = SCRAPE_MS, lagMs = LAG_MS } = layer;
  let nextPolicyMs = 0;
  return {
    intervalMs: layer.intervalMs,
    scrapeMs,
    lagMs,
    latencyEveryMs: SCRAPE_MS,
    historyMs: Math.max(layer.historyMs, ours.historyMs + LAG_MS),
    decide: (observation) => {
      const { nowMs, scrapes } = observation;
      if (nowMs >= nextPolicyMs) {
        nextPolicyMs = nowMs - (nowMs % ours.intervalMs) + ours.intervalMs;
        const known = scrapes.filter(({ atMs }) => atMs % SCRAPE_MS === 0 && atMs <= nowMs - LAG_MS);
        minReplicas = ours.decide({ ...observation, scrapes: known, replicas: minReplicas });
      }
      return layer.decide({
        ...observation,
        scrapes: scrapes.filter(({ atMs }) => atMs > nowMs - lagMs - layer.historyMs),
      });
    },
  };
}
