import { conditionIn } from "../objects/conditions.ts";
import { quantity } from "../objects/pods.ts";
import { epochMs } from "../objects/time.ts";
import type { Container, Pod } from "../objects/typed.ts";
import { METRICS_WINDOW_MS, type ContainerUsage } from "../usage/pod-usage.ts";

/** The defaults of kube-controller-manager. */
const CPU_INITIALIZATION_MS = 300_000;
const INITIAL_READINESS_DELAY_MS = 30_000;
const TOLERANCE = 0.1;

export interface CalculationInput {
  readonly pods: readonly Pod[];
  readonly usages: (pod: Pod) => readonly ContainerUsage[] | undefined;
  readonly resource: "cpu" | "memory";
  /** One container instead of the whole pod. */
  readonly container?: string;
  /** A share of the request in percent, or thousandths of the unit per pod. */
  readonly target: { readonly percent: number } | { readonly milli: number };
  readonly current: number;
  readonly now: number;
}

/** Amounts are in thousandths of the unit, as Go's MilliValue. */
export type Calculation =
  | { readonly replicas: number; readonly averageMilli: number; readonly percent?: number }
  | { readonly error: string };

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
}

/** The replicas for one resource metric, as the ReplicaCalculator of Kubernetes computes them. */
export function calculateReplicas(input: CalculationInput): Calculation {
  const { pods, current, target } = input;
  if (pods.length === 0) return { error: "no pods returned by selector while calculating replica count" };
  const metrics = measuredPods(input);
  const { ready, unready, missing } = groupPods(input, metrics);
  if (metrics.size === 0) return { error: "did not receive metrics for targeted pods (pods might be unready)" };
  const requests = "percent" in target ? requestsOf(input) : new Map<string, number>();
  if ("error" in requests) return requests;
  const first = usageRatio(metrics, requests, target);
  if (!first) return { error: "no metrics returned matched known pods" };
  const answer = (replicas: number): Calculation => ({ replicas, ...first.shown });
  const isUpWithUnready = unready.length > 0 && first.ratio > 1;
  if (!isUpWithUnready && missing.length === 0) {
    return answer(isWithinTolerance(first.ratio) ? current : Math.ceil(first.ratio * ready));
  }
  for (const name of missing) assumeMissing(metrics, name, { ratio: first.ratio, target, request: requests.get(name) });
  if (isUpWithUnready) for (const name of unready) metrics.set(name, 0);
  const ratio = usageRatio(metrics, requests, target)?.ratio ?? 1;
  const turns = (first.ratio < 1 && ratio > 1) || (first.ratio > 1 && ratio < 1);
  const replicas = Math.ceil(ratio * metrics.size);
  const contradicts = (ratio < 1 && replicas > current) || (ratio > 1 && replicas < current);
  return answer(isWithinTolerance(ratio) || turns || contradicts ? current : replicas);
}

function isWithinTolerance(ratio: number): boolean {
  return Math.abs(1 - ratio) <= TOLERANCE;
}

/** The usage of each pod with metrics. */
function measuredPods({ pods, usages, resource, container }: CalculationInput): Map<string, number> {
  const metrics = new Map<string, number>();
  for (const pod of pods) {
    const found = usages(pod)?.filter((usage) => container === undefined || usage.container === container);
    if (!found) continue;
    const milli = found.map((usage) => (resource === "cpu" ? usage.cpuMillicores : usage.memoryBytes * 1000));
    metrics.set(
      pod.metadata.name ?? "",
      milli.reduce((sum, one) => sum + one, 0),
    );
  }
  return metrics;
}

/** Sorts pods by what is known of them, and removes the metrics of pods that do not count. */
function groupPods({ pods, resource, now }: CalculationInput, metrics: Map<string, number>): Groups {
  const unready: string[] = [];
  const missing: string[] = [];
  let ready = 0;
  for (const pod of pods) {
    const { name = "", deletionTimestamp } = pod.metadata;
    const isIgnored = deletionTimestamp !== undefined || pod.status?.phase === "Failed";
    const isUnready =
      pod.status?.phase === "Pending" || (resource === "cpu" && metrics.has(name) && isInitializing(pod, now));
    if (isIgnored) metrics.delete(name);
    else if (isUnready) {
      metrics.delete(name);
      unready.push(name);
    } else if (metrics.has(name)) ready += 1;
    else missing.push(name);
  }
  return { ready, unready, missing };
}

/** Whether the CPU of a pod is that of its start, not of its work. */
function isInitializing({ status }: Pod, now: number): boolean {
  const condition = conditionIn(status?.conditions, "Ready");
  const startedMs = epochMs(status?.startTime);
  const changedMs = epochMs(condition?.lastTransitionTime);
  if (!condition || startedMs === undefined || changedMs === undefined) return true;
  const isUnready = condition.status === "False";
  if (startedMs + CPU_INITIALIZATION_MS > now) return isUnready || now < changedMs + METRICS_WINDOW_MS;
  return isUnready && startedMs + INITIAL_READINESS_DELAY_MS > changedMs;
}

/** On the way up a pod without metrics uses nothing; on the way down all of its request, or exactly the target. */
function assumeMissing(
  metrics: Map<string, number>,
  name: string,
  { ratio, target, request = 0 }: { ratio: number; target: CalculationInput["target"]; request: number | undefined },
): void {
  if (ratio > 1) metrics.set(name, 0);
  if (ratio < 1) {
    metrics.set(name, "milli" in target ? target.milli : Math.trunc((request * Math.max(100, target.percent)) / 100));
  }
}

function requestsOf({ pods, resource, container }: CalculationInput): Map<string, number> | { readonly error: string } {
  const requests = new Map<string, number>();
  for (const pod of pods) {
    const name = pod.metadata.name ?? "";
    const counted = countedContainers(pod).filter((each) => container === undefined || each.name === container);
    if (counted.length === 0) return { error: `container ${container ?? ""} not found in Pod ${name}` };
    const without = counted.find(({ resources }) => resources?.requests?.[resource] === undefined);
    if (without) return { error: `missing request for ${resource} in container ${without.name} of Pod ${name}` };
    const milli = counted.map(({ resources }) =>
      Math.ceil(Number(quantity(resources?.requests?.[resource]).nano) / 1e6),
    );
    requests.set(
      name,
      milli.reduce((sum, one) => sum + one, 0),
    );
  }
  return requests;
}

function countedContainers({ spec }: Pod): readonly Container[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(spec?.containers ?? []), ...sidecars];
}

interface UsageRatio {
  readonly ratio: number;
  readonly shown: { readonly averageMilli: number; readonly percent?: number };
}

/** Usage relative to the target, with Go's integer divisions. */
function usageRatio(
  metrics: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
  target: CalculationInput["target"],
): UsageRatio | undefined {
  const total = [...metrics.values()].reduce((sum, one) => sum + one, 0);
  const averageMilli = Math.trunc(total / metrics.size);
  if ("milli" in target) return { ratio: averageMilli / target.milli, shown: { averageMilli } };
  const requested = [...metrics.keys()].reduce((sum, name) => sum + (requests.get(name) ?? 0), 0);
  if (requested === 0) return undefined;
  const percent = Math.trunc((total * 100) / requested);
  return { ratio: percent / target.percent, shown: { averageMilli, percent } };
}
