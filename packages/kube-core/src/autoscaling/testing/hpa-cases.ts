import { randomInt, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import { DEFAULT_HPA_SETTINGS, replicasForMetric, type HpaPod, type HpaTarget } from "../hpa-replicas.ts";

/** A pod in the form that `packages/real-components/components/kubernetes/hpareplicas` reads; times are milliseconds before now. */
interface PodCase {
  readonly phase: string;
  readonly isDeleting: boolean;
  readonly startedMs?: number;
  readonly isReady?: boolean;
  readonly readySinceMs: number;
  readonly request: number;
  readonly usage?: number;
  readonly measuredMs: number;
  readonly windowMs: number;
}

/** Pods and a target; one of `utilization` and `averageValue` is 0. */
export interface HpaCase {
  readonly current: number;
  readonly resource: "cpu" | "memory";
  readonly utilization: number;
  readonly averageValue: number;
  readonly pods: readonly PodCase[];
}

/** What the Go program prints. */
export interface HpaResult {
  readonly error?: string;
  readonly replicas: number;
  readonly utilization: number;
  readonly average: number;
}

/** Pods of all kinds: starting, unready, without metrics, deleted; with usage around the target. */
export function randomHpaCase(seed: number): HpaCase {
  const random = seededRandom(seed);
  const pods = randomInt(random, 12) + (random.next() < 0.02 ? 0 : 1);
  const isUtilization = random.next() < 0.6;
  const scale = 10 + randomInt(random, 1000);
  const trouble = random.next() ** 2;
  return {
    current: random.next() < 0.7 ? pods : 1 + randomInt(random, 15),
    resource: random.next() < 0.8 ? "cpu" : "memory",
    utilization: isUtilization ? 20 + randomInt(random, 120) : 0,
    averageValue: isUtilization ? 0 : 1 + randomInt(random, 1000),
    pods: Array.from({ length: pods }, () => randomPod(random, scale, trouble)),
  };
}

function randomPod(random: Random, scale: number, trouble: number): PodCase {
  const isTroubled = random.next() < trouble;
  const has = (share: number): boolean => isTroubled && random.next() < share;
  // Not at the limit of five minutes, because the Go program reads the clock.
  const startedMs = pick(random, [5000, 60_000, 280_000, 320_000, 3_600_000]);
  return {
    phase: has(0.3) ? pick(random, ["Pending", "Failed", "Succeeded", "Running"]) : "Running",
    isDeleting: has(0.1),
    ...(has(0.05) ? {} : { startedMs }),
    ...(has(0.05) ? {} : { isReady: !has(0.4) }),
    readySinceMs: Math.max(0, startedMs - pick(random, [0, 10_000, 29_999, 30_000, 30_001, 200_000])),
    request: has(0.05) ? 0 : 100 + randomInt(random, 3) * 150,
    ...(has(0.3) ? {} : { usage: Math.floor(scale * (0.5 + random.next())) }),
    measuredMs: randomInt(random, 30_000),
    windowMs: pick(random, [10_000, 30_000]),
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[randomInt(random, values.length)] as T;
}

/** What our implementation returns. */
export function replayHpa({ current, resource, utilization, averageValue, pods }: HpaCase): HpaResult {
  const nowMs = 10_000_000;
  const target: HpaTarget = utilization > 0 ? { resource, utilization } : { resource, averageValue };
  const list = pods.map((pod): HpaPod => ({
    phase: pod.phase,
    isDeleting: pod.isDeleting,
    request: pod.request,
    ...(pod.startedMs !== undefined && { startedMs: nowMs - pod.startedMs }),
    ...(pod.isReady !== undefined && { ready: { isTrue: pod.isReady, sinceMs: nowMs - pod.readySinceMs } }),
    ...(pod.usage !== undefined && {
      usage: { value: pod.usage, atMs: nowMs - pod.measuredMs, windowMs: pod.windowMs },
    }),
  }));
  const proposal = replicasForMetric(list, current, target, DEFAULT_HPA_SETTINGS, nowMs);
  if ("failure" in proposal)
    return { error: errorText(pods.length, proposal.failure), replicas: 0, utilization: 0, average: 0 };
  return { replicas: proposal.replicas, utilization: proposal.utilization ?? 0, average: proposal.averageUsage };
}

function errorText(pods: number, failure: "NoMetrics" | "NoRequests"): string {
  if (pods === 0) return "no pods returned by selector while calculating replica count";
  return failure === "NoMetrics"
    ? "did not receive metrics for targeted pods (pods might be unready)"
    : "no metrics returned matched known pods";
}
