import { ResourceModel } from "@oaas/nfr/resources";
import { demandOf, type Autoscaler, type Observation, type Workload } from "@oaas/nfr/simulation";
import { PROMETHEUS } from "./metrics-source.ts";

const MINUTE_MS = 60_000;
/** CPU of a standard replica, in which the plant counts. */
const REPLICA_MILLICORES = 1000;
/** A pod is at most as large as a node. */
const NODE_MILLICORES = 16 * REPLICA_MILLICORES;
/** The updater of the vertical pod autoscaler resizes within the bounds only after this time, by at least this share. */
const OLD_MS = 12 * 60 * MINUTE_MS;
const SIGNIFICANT = 0.1;
const TEXTS = { component: "function", validForMs: MINUTE_MS, queries: { cpu: "", memory: "" } };

/**
 * The vertical pod autoscaler: a fixed number of pods, as many as the peak needs on nodes of 16 cores, and their size from
 * the recommender. A pod serves in proportion to its CPU, and does not use more than its size. Its updater resizes pods
 * outside the bounds of the recommendation. The plant counts in standard replicas, so a size is rounded up to whole ones,
 * and additional CPU is there after the time that a replica needs to start.
 */
export function vpa(workload: Workload): Autoscaler {
  const model = new ResourceModel();
  const peak = Math.max(...demandOf(workload, MINUTE_MS, 1)) * REPLICA_MILLICORES;
  const pods = Math.max(1, Math.ceil(peak / NODE_MILLICORES));
  let size: number | undefined;
  let resizedMs = 0;
  return {
    intervalMs: MINUTE_MS,
    ...PROMETHEUS,
    historyMs: 2 * MINUTE_MS,
    decide: ({ nowMs, scrapes, replicas }) => {
      size ??= (replicas * REPLICA_MILLICORES) / pods;
      observeUsage(model, scrapes, workload.concurrency * pods);
      const [cpu] = model.recommend(TEXTS);
      if (cpu === undefined) return replicas;
      const target = Math.min(cpu.target, NODE_MILLICORES);
      const isOutside = size < Math.min(cpu.lowerBound, NODE_MILLICORES) || size > cpu.upperBound;
      const isOld = nowMs - resizedMs >= OLD_MS && Math.abs(target - size) >= SIGNIFICANT * size;
      if (!isOutside && !isOld) return replicas;
      size = target;
      resizedMs = nowMs;
      return Math.ceil((size * pods) / REPLICA_MILLICORES);
    },
  };
}

/** The recommender takes the usage of each pod once a minute. */
function observeUsage(model: ResourceModel, scrapes: Observation["scrapes"], concurrency: number): void {
  const last = scrapes.at(-1);
  const before = scrapes.findLast(({ atMs }) => last !== undefined && atMs <= last.atMs - MINUTE_MS);
  if (before === undefined || last === undefined) return;
  const busy = (last.busyMs - before.busyMs) / (last.atMs - before.atMs);
  const value = (busy / concurrency) * REPLICA_MILLICORES;
  model.observe({ pod: { cpuMillicores: [{ atMs: last.atMs, value }] } });
}
