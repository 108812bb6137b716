import { defaultKnativeSettings, KnativeAutoscaler, ScaleToZero } from "@oaas/kube-core/autoscaling";
import type { Autoscaler, Scrape, Workload } from "@oaas/nfr/simulation";

const TICK_MS = 2000;
/** Knative's autoscaler scrapes queue-proxies itself. */
const SCRAPE_MS = 1000;

/** Knative's pod autoscaler on concurrency, with the defaults of `config-autoscaler`: 70 % of what a pod can serve. */
export function kpa(workload: Workload): Autoscaler {
  const scaleToZero = new ScaleToZero();
  let autoscaler: KnativeAutoscaler | undefined;
  let last: Scrape | undefined;
  return {
    intervalMs: TICK_MS,
    scrapeMs: SCRAPE_MS,
    lagMs: 0,
    historyMs: 2 * TICK_MS,
    decide: ({ nowMs, scrapes, replicas, ready }) => {
      autoscaler ??= new KnativeAutoscaler(defaultKnativeSettings(workload.concurrency), { nowMs, ready });
      for (const scrape of scrapes) {
        if (last !== undefined && scrape.atMs <= last.atMs) continue;
        if (last !== undefined) autoscaler.record(scrape.atMs, concurrencyBetween(last, scrape));
        last = scrape;
      }
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
