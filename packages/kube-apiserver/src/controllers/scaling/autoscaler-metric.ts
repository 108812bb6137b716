import { formatQuantity, type KubeObject } from "@oaas/kube-core";
import { isWithinTolerance } from "@oaas/kube-core/autoscaling";
import { ANNOTATIONS } from "../failures/failure.ts";
import type { Claim } from "../objects/conditions.ts";
import { quantity } from "../objects/pods.ts";
import type { Pod } from "../objects/typed.ts";
import type { ContainerUsage } from "../usage/pod-usage.ts";
import { calculateReplicas } from "./replica-calculator.ts";

export interface MetricSpec {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly target: MetricTarget };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly target: MetricTarget };
  readonly pods?: { readonly metric: { readonly name: string }; readonly target: MetricTarget };
  readonly external?: { readonly metric: { readonly name: string }; readonly target: MetricTarget };
}

interface MetricTarget {
  readonly type?: string;
  readonly averageUtilization?: number;
  readonly averageValue?: string | number;
  readonly value?: string | number;
}

/** The metric of an autoscaler. */
interface Measured extends KubeObject {
  readonly spec: { readonly metrics?: readonly MetricSpec[] };
}

/** The replicas that a metric demands. */
export interface Proposal {
  readonly replicas: number;
  /** The metric in messages. */
  readonly text: string;
  /** Its entry in the status. */
  readonly status: object;
}

/** Why a metric demands nothing. */
interface Failure {
  readonly error: string;
  readonly resource: string;
}

/** The pods of the target with their usage, where the cluster has a metrics API. */
export interface ResourceMetrics {
  readonly pods: readonly Pod[];
  readonly usages: (pod: Pod) => readonly ContainerUsage[] | undefined;
  readonly now: number;
}

/** The answer to all metrics of an autoscaler: the largest proposal, or why there is none. */
export type Proposed =
  | (Proposal & { readonly statuses: readonly object[] })
  | { readonly claim: Claim; readonly summary: string };

const NO_METRICS_API =
  "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
const NO_OTHER_METRICS = "unable to fetch metrics: no custom or external metrics API is registered";

/** Annotations take precedence over usage, and apply to the first metric. */
export function proposeReplicas(
  autoscaler: Measured,
  current: number,
  measured: ResourceMetrics | undefined,
): Proposed {
  const annotated = proposeAnnotated(autoscaler, current);
  if (annotated) return { ...annotated, statuses: [annotated.status] };
  const { metrics = [] } = autoscaler.spec;
  const results = metrics.map((metric) => proposeMeasured(metric, current, measured));
  const failures = results.filter((result) => "error" in result);
  const proposals = results.filter((result) => "replicas" in result);
  const [failed] = failures;
  const [best] = proposals.toSorted((one, other) => other.replicas - one.replicas);
  // A metric that is missing could demand more: the target only grows.
  if (!best || (failed && best.replicas < current))
    return createFailedProposal(failed, failures.length, metrics.length);
  return { ...best, statuses: proposals.map(({ status }) => status) };
}

/** The first metric with the value of the annotations. */
function proposeAnnotated(autoscaler: Measured, current: number): Proposal | undefined {
  const metric = annotatedMetric(autoscaler, current);
  if (!metric) return undefined;
  const ratio = metric.value / metric.target;
  return { ...metric, replicas: isWithinTolerance(ratio) ? current : Math.ceil(current * ratio) };
}

function proposeMeasured(
  metric: MetricSpec,
  current: number,
  measured: ResourceMetrics | undefined,
): Proposal | Failure {
  const source = metric.resource ?? metric.containerResource;
  const resource = source?.name ?? "cpu";
  if (!source) return { resource, error: `failed to get ${metric.type} metric: ${NO_OTHER_METRICS}` };
  const { averageUtilization, averageValue } = source.target;
  const prefix = `failed to get ${resource} ${averageUtilization === undefined ? "usage" : "utilization"}: `;
  if (!measured || (resource !== "cpu" && resource !== "memory")) {
    return { resource, error: `${prefix}unable to get metrics for resource ${resource}: ${NO_METRICS_API}` };
  }
  const { container } = metric.containerResource ?? {};
  const result = calculateReplicas({
    ...measured,
    resource,
    current,
    ...(container === undefined ? {} : { container }),
    target:
      averageUtilization === undefined
        ? { milli: Math.ceil(Number(quantity(averageValue).nano) / 1e6) }
        : { percent: averageUtilization },
  });
  if ("error" in result) return { resource, error: prefix + result.error };
  const nano = BigInt(result.averageMilli) * 1_000_000n;
  const amount = formatQuantity({ nano, format: resource === "memory" ? "BinarySI" : "DecimalSI" });
  const percent = result.percent === undefined ? {} : { averageUtilization: result.percent };
  const status = {
    name: resource,
    ...(container === undefined ? {} : { container }),
    current: { ...percent, averageValue: amount },
  };
  const what = container === undefined ? "resource" : "container resource";
  return {
    replicas: result.replicas,
    text:
      result.percent === undefined ? `${resource} resource` : `${resource} ${what} utilization (percentage of request)`,
    status: { type: metric.type, [container === undefined ? "resource" : "containerResource"]: status },
  };
}

function createFailedProposal(failed: Failure | undefined, invalid: number, all: number): Proposed {
  const { error, resource } = failed ?? { error: "no metrics are specified", resource: "cpu" };
  return {
    claim: {
      type: "ScalingActive",
      status: "False",
      reason: "FailedGetResourceMetric",
      message: `the HPA was unable to compute the replica count: ${error}`,
    },
    summary: `invalid metrics (${invalid} invalid out of ${all}), first error is: failed to get ${resource} resource metric value: ${error}`,
  };
}

interface AnnotatedMetric {
  readonly value: number;
  readonly target: number;
  readonly text: string;
  readonly status: object;
}

function annotatedMetric({ metadata, spec }: Measured, replicas: number): AnnotatedMetric | undefined {
  const annotated = numberOf(metadata.annotations?.[ANNOTATIONS.metric]);
  const load = numberOf(metadata.annotations?.[ANNOTATIONS.load]);
  const value = annotated ?? (load === undefined ? undefined : load / Math.max(1, replicas));
  const [first] = spec.metrics ?? [];
  if (value === undefined || !first) return undefined;
  const { resource } = first;
  const { name, target } = resource ?? {
    name: first.pods?.metric.name ?? first.external?.metric.name ?? "",
    target: targetOf(first),
  };
  const whole = Math.round(value);
  if (target.averageUtilization !== undefined) {
    const current = { averageUtilization: whole, averageValue: String(whole) };
    return {
      value,
      target: target.averageUtilization,
      text: `${name} resource utilization (percentage of request)`,
      status: { type: "Resource", resource: { name, current } },
    };
  }
  const targetValue = Number(quantity(target.averageValue ?? target.value).nano) / 1e9;
  if (targetValue === 0) return undefined;
  const current = { averageValue: String(whole) };
  const status = resource
    ? { type: "Resource", resource: { name, current } }
    : { type: first.type, [first.type.toLowerCase()]: { metric: { name }, current } };
  return {
    value,
    target: targetValue,
    text: resource ? `${name} resource` : `${first.type.toLowerCase()} metric ${name}`,
    status,
  };
}

function targetOf({ pods, external }: MetricSpec): MetricTarget {
  return pods?.target ?? external?.target ?? {};
}

function numberOf(text: string | undefined): number | undefined {
  const number = Number(text);
  return text === undefined || text.trim() === "" || !Number.isFinite(number) || number < 0 ? undefined : number;
}
