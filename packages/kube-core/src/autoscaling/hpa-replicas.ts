/** A pod of the scaled workload, as the controller sees it. */
export interface HpaPod {
  readonly phase: string;
  readonly isDeleting?: boolean;
  readonly startedMs?: number;
  /** The condition Ready, and since when; "Unknown" counts as ready. */
  readonly ready?: { readonly isTrue: boolean; readonly sinceMs: number };
  /** In whole thousandths, such as millicores. */
  readonly request: number;
  /** Absent when the metrics API does not list the pod. */
  readonly usage?: { readonly value: number; readonly atMs: number; readonly windowMs: number };
}

export type HpaTarget =
  /** Percent of the requests. */
  | { readonly resource: "cpu" | "memory"; readonly utilization: number }
  /** Whole thousandths per pod. */
  | { readonly resource?: "cpu" | "memory"; readonly averageValue: number };

/** Flags of kube-controller-manager. */
export interface HpaSettings {
  readonly tolerance: number;
  readonly downscaleStabilizationMs: number;
  readonly cpuInitializationMs: number;
  readonly initialReadinessDelayMs: number;
}

export const DEFAULT_HPA_SETTINGS: HpaSettings = {
  tolerance: 0.1,
  downscaleStabilizationMs: 300_000,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
};

interface Measured {
  readonly value: number;
  readonly request: number;
}

/** What a metric asks for, and the usage that it reports. */
export interface HpaProposal {
  readonly replicas: number;
  /** Whole thousandths per measured pod. */
  readonly averageUsage: number;
  /** Percent of the requests, for such a target. */
  readonly utilization?: number;
}

/** NoMetrics: no pod that counts has metrics. NoRequests: these pods request nothing. */
export interface HpaFailure {
  readonly failure: "NoMetrics" | "NoRequests";
}

/** The replicas that the metric asks for. */
export function replicasForMetric(
  pods: readonly HpaPod[],
  current: number,
  target: HpaTarget,
  settings: HpaSettings,
  nowMs: number,
): HpaProposal | HpaFailure {
  const groups = groupPods(pods, target, settings, nowMs);
  if (groups.measured.length === 0) return { failure: "NoMetrics" };
  const usage = usageOf(groups.measured, target);
  if (usage === undefined) return { failure: "NoRequests" };
  const { ratio, ...reported } = usage;
  return { replicas: replicasForRatio(groups, ratio, current, target, settings.tolerance), ...reported };
}

function replicasForRatio(
  groups: PodGroups,
  ratio: number,
  current: number,
  target: HpaTarget,
  tolerance: number,
): number {
  const countsUnready = groups.unready.length > 0 && ratio > 1;
  if (!countsUnready && groups.missing.length === 0) {
    return isWithinTolerance(ratio, tolerance) ? current : Math.ceil(ratio * groups.measured.length);
  }
  const assumed = [
    ...groups.measured,
    ...(ratio === 1
      ? []
      : groups.missing.map((pod) => ({ request: pod.request, value: assumedUsage(pod, ratio, target) }))),
    ...(countsUnready ? groups.unready.map((pod) => ({ request: pod.request, value: 0 })) : []),
  ];
  const assumedRatio = usageOf(assumed, target)?.ratio ?? ratio;
  const turns = (ratio < 1 && assumedRatio > 1) || (ratio > 1 && assumedRatio < 1);
  if (isWithinTolerance(assumedRatio, tolerance) || turns) return current;
  const replicas = Math.ceil(assumedRatio * assumed.length);
  const isOpposite = (assumedRatio < 1 && replicas > current) || (assumedRatio > 1 && replicas < current);
  return isOpposite ? current : replicas;
}

/** Whether the ratio of usage and target is close enough to 1; the limits are included, as in the controller. */
export function isWithinTolerance(ratio: number, tolerance: number = DEFAULT_HPA_SETTINGS.tolerance): boolean {
  return 1 - tolerance <= ratio && ratio <= 1 + tolerance;
}

/** A pod without metrics uses nothing before an increase, and all of its request or the target before a decrease. */
function assumedUsage(pod: HpaPod, ratio: number, target: HpaTarget): number {
  if (ratio > 1) return 0;
  if (!("utilization" in target)) return target.averageValue;
  return Math.trunc((pod.request * Math.max(100, target.utilization)) / 100);
}

/** Relative to the target, with the integer divisions of the controller. */
function usageOf(
  pods: readonly Measured[],
  target: HpaTarget,
): (Omit<HpaProposal, "replicas"> & { readonly ratio: number }) | undefined {
  const used = pods.reduce((sum, { value }) => sum + value, 0);
  const averageUsage = Math.trunc(used / pods.length);
  if (!("utilization" in target)) return { ratio: averageUsage / target.averageValue, averageUsage };
  const requested = pods.reduce((sum, { request }) => sum + request, 0);
  if (requested === 0) return undefined;
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / target.utilization, averageUsage, utilization };
}

interface PodGroups {
  readonly measured: Measured[];
  readonly unready: HpaPod[];
  readonly missing: HpaPod[];
}

function groupPods(pods: readonly HpaPod[], target: HpaTarget, settings: HpaSettings, nowMs: number): PodGroups {
  const groups: PodGroups = { measured: [], unready: [], missing: [] };
  for (const pod of pods) {
    if (pod.isDeleting === true || pod.phase === "Failed") continue;
    if (pod.phase === "Pending") groups.unready.push(pod);
    else if (pod.usage === undefined) groups.missing.push(pod);
    else if (target.resource === "cpu" && isUnready(pod, pod.usage, settings, nowMs)) groups.unready.push(pod);
    else groups.measured.push({ value: pod.usage.value, request: pod.request });
  }
  return groups;
}

/** A container that starts uses more CPU than later: its usage counts only after it was ready for a window. */
function isUnready(pod: HpaPod, usage: NonNullable<HpaPod["usage"]>, settings: HpaSettings, nowMs: number): boolean {
  const { ready, startedMs } = pod;
  if (ready === undefined || startedMs === undefined) return true;
  if (startedMs + settings.cpuInitializationMs > nowMs) {
    return !ready.isTrue || usage.atMs < ready.sinceMs + usage.windowMs;
  }
  return !ready.isTrue && startedMs + settings.initialReadinessDelayMs > ready.sinceMs;
}
