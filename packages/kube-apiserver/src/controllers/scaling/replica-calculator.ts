import { DEFAULT_HPA_SETTINGS, replicasForMetric, type HpaPod, type HpaTarget } from "@oaas/kube-core/autoscaling";
import { conditionIn } from "../objects/conditions.ts";
import { quantity } from "../objects/pods.ts";
import { epochMs } from "../objects/time.ts";
import type { Container, Pod } from "../objects/typed.ts";
import { METRICS_WINDOW_MS, type ContainerUsage } from "../usage/pod-usage.ts";

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

/** The replicas for one resource metric, as the ReplicaCalculator of Kubernetes computes them. */
export function calculateReplicas(input: CalculationInput): Calculation {
  const { pods, current, now } = input;
  if (pods.length === 0) return { error: "no pods returned by selector while calculating replica count" };
  const target = targetOf(input);
  const requests = "utilization" in target ? requestsOf(input) : new Map<string, number>();
  const requestOf = (name: string): number => ("error" in requests ? 0 : (requests.get(name) ?? 0));
  const measured = pods.map((pod) => measurePod(pod, input, requestOf(pod.metadata.name ?? "")));
  const proposal = replicasForMetric(measured, current, target, DEFAULT_HPA_SETTINGS, now);
  if ("failure" in proposal && proposal.failure === "NoMetrics") {
    return { error: "did not receive metrics for targeted pods (pods might be unready)" };
  }
  if ("error" in requests) return requests;
  if ("failure" in proposal) return { error: "no metrics returned matched known pods" };
  const { replicas, averageUsage: averageMilli, utilization } = proposal;
  return { replicas, averageMilli, ...(utilization === undefined ? {} : { percent: utilization }) };
}

function targetOf({ resource, target }: CalculationInput): HpaTarget {
  return "percent" in target ? { resource, utilization: target.percent } : { resource, averageValue: target.milli };
}

function measurePod(pod: Pod, { usages, resource, container, now }: CalculationInput, request: number): HpaPod {
  const condition = conditionIn(pod.status?.conditions, "Ready");
  const startedMs = epochMs(pod.status?.startTime);
  const sinceMs = epochMs(condition?.lastTransitionTime);
  const found = usages(pod)?.filter((usage) => container === undefined || usage.container === container);
  const value = found?.reduce(
    (sum, usage) => sum + (resource === "cpu" ? usage.cpuMillicores : usage.memoryBytes * 1000),
    0,
  );
  return {
    phase: pod.status?.phase ?? "",
    isDeleting: pod.metadata.deletionTimestamp !== undefined,
    request,
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(condition && sinceMs !== undefined ? { ready: { isTrue: condition.status !== "False", sinceMs } } : {}),
    ...(value === undefined ? {} : { usage: { value, atMs: now, windowMs: METRICS_WINDOW_MS } }),
  };
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
