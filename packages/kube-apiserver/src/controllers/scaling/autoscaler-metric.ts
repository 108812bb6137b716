import type { KubeObject } from "@oaas/kube-core";
import { ANNOTATIONS } from "../failures/failure.ts";
import type { Claim } from "../objects/conditions.ts";
import { quantity } from "../objects/pods.ts";

export interface MetricSpec {
  readonly type: string;
  readonly resource?: { readonly name: string; readonly target: MetricTarget };
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

/** The current and the target value of a metric. */
export interface Metric {
  readonly value: number;
  readonly target: number;
  readonly text: string;
  readonly status: object;
}

/** The first metric of the spec, with the value of the annotations. */
export function computeMetric({ metadata, spec }: Measured, replicas: number): Metric | undefined {
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

/** The message of a cluster without a metrics server. */
export function omitMetric({ spec }: Pick<Measured, "spec">): Claim {
  const [first] = spec.metrics ?? [];
  const name = first?.resource?.name ?? "cpu";
  const cause = `failed to get ${name} utilization: unable to get metrics for resource ${name}: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)`;
  return {
    type: "ScalingActive",
    status: "False",
    reason: "FailedGetResourceMetric",
    message: `the HPA was unable to compute the replica count: ${cause}`,
  };
}
