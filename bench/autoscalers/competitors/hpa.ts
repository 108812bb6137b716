import { decideReplicas, EMPTY_HPA_MEMORY, type HpaMemory, type HpaPod } from "@oaas/kube-core/autoscaling";
import type { Autoscaler, Observation, Scrape, Workload } from "@oaas/nfr/simulation";
import { PROMETHEUS, type MetricsSource } from "./metrics-source.ts";

/** CPU of a replica that serves as many requests as it can, which is also its request. */
const REPLICA_MILLICORES = 1000;
const SYNC_MS = 15_000;
/** The interval of metrics-server, and the age of what kubelets report. */
const METRICS_SERVER = { scrapeMs: 15_000, lagMs: 15_000 } as const;

/** What the autoscaler keeps, in percent of the requested CPU. */
export interface HpaTarget {
  readonly utilization: number;
}

/**
 * The horizontal pod autoscaler on CPU utilization, with the defaults of kube-controller-manager 1.36. Without a stated
 * behavior it at most doubles per sync and decreases after five minutes.
 */
export function hpa(workload: Workload, spec: HpaTarget, metrics: MetricsSource): Autoscaler {
  const { scrapeMs, lagMs } = metrics === "own" ? METRICS_SERVER : PROMETHEUS;
  let memory: HpaMemory = EMPTY_HPA_MEMORY;
  return {
    intervalMs: SYNC_MS,
    scrapeMs,
    lagMs,
    historyMs: 2 * scrapeMs,
    decide: (observation) => {
      const { minReplicas, maxReplicas } = workload;
      const target = { resource: "cpu", utilization: spec.utilization } as const;
      const { nowMs, replicas } = observation;
      const pods = podsOf(observation, workload.concurrency, scrapeMs);
      const decision = decideReplicas({ minReplicas, maxReplicas, target }, { nowMs, current: replicas, pods, memory });
      memory = decision.memory;
      return decision.replicas;
    },
  };
}

/** Pods that became ready after the last measurement have no metrics; starting ones are pending. */
function podsOf({ scrapes, ready, replicas }: Observation, concurrency: number, windowMs: number): HpaPod[] {
  const [before, last] = scrapes.slice(-2);
  const measured = before && last ? Math.min(ready, last.ready) : 0;
  const value = before && last ? Math.floor(millicores(before, last, concurrency) / Math.max(1, last.ready)) : 0;
  const usage = { value, atMs: last?.atMs ?? 0, windowMs };
  return Array.from({ length: replicas }, (_, index) => ({
    phase: index < ready ? "Running" : "Pending",
    startedMs: Number.NEGATIVE_INFINITY,
    ready: { isTrue: true, sinceMs: Number.NEGATIVE_INFINITY },
    request: REPLICA_MILLICORES,
    ...(index < measured && { usage }),
  }));
}

function millicores(before: Scrape, last: Scrape, concurrency: number): number {
  return (((last.busyMs - before.busyMs) / (last.atMs - before.atMs)) * REPLICA_MILLICORES) / concurrency;
}
