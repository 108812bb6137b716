import { defaultKnativeSettings, KnativeAutoscaler, ScaleToZero } from "@oaas/kube-core/autoscaling";
import type { Autoscaler, Scrape, Workload } from "@oaas/nfr/simulation";
import { PROMETHEUS, type MetricsSource } from "./metrics-source.ts";

const TICK_MS = 2000;
const SECOND_MS = 1000;
/** Knative's autoscaler scrapes queue-proxies itself. */
const QUEUE_PROXY = { scrapeMs: SECOND_MS, lagMs: 0 } as const;

/** Knative's pod autoscaler on concurrency, with the defaults of `config-autoscaler`: 70 % of what a pod can serve. */
export function kpa(workload: Workload, metrics: MetricsSource): Autoscaler {
  const { scrapeMs, lagMs } = metrics === "own" ? QUEUE_PROXY : PROMETHEUS;
  const scaleToZero = new ScaleToZero();
  let autoscaler: KnativeAutoscaler | undefined;
  let recordedMs = 0;
  return {
    intervalMs: TICK_MS,
    scrapeMs,
    lagMs,
    historyMs: 2 * TICK_MS + 2 * scrapeMs,
    decide: ({ nowMs, scrapes, replicas, ready }) => {
      autoscaler ??= new KnativeAutoscaler(defaultKnativeSettings(workload.concurrency), { nowMs, ready });
      // It takes a value every second: the newest one that there is.
      for (recordedMs += SECOND_MS; recordedMs <= nowMs; recordedMs += SECOND_MS) {
        const [before, last] = scrapes.filter(({ atMs }) => atMs <= recordedMs - lagMs).slice(-2);
        if (before && last) autoscaler.record(recordedMs, concurrencyBetween(before, last));
      }
      recordedMs -= SECOND_MS;
      const decision = autoscaler.decide(nowMs, ready);
      if (decision === undefined) return replicas;
      const { excessBurstCapacity } = decision;
      const desired = Math.min(Math.max(decision.desired, workload.minReplicas), workload.maxReplicas);
      return scaleToZero.apply(nowMs, { desired, current: replicas, ready, excessBurstCapacity });
    },
  };
}

/** Requests in service on average, and those that wait in the activator or a queue-proxy. */
function concurrencyBetween(before: Scrape, now: Scrape): number {
  return (now.busyMs - before.busyMs) / (now.atMs - before.atMs) + now.queueLength;
}
