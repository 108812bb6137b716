import { equalJson, type KubeObject } from "@oaas/kube-core";
import { renderAutoscaler, isAutoscaled } from "../manifests/autoscaler.ts";
import { SERVICE_PORT, type ClassPlan, type FunctionPlan } from "../plan/class-plan.ts";
import { componentLabels, FUNCTION_KEY_ANNOTATION, selectorLabels, TEMPLATE_ANNOTATION } from "../manifests/labels.ts";
import { createManifest } from "../manifests/manifest.ts";
import { renderDisruptionBudget } from "../manifests/disruption-budget.ts";
import { renderNetworkPolicy, hasNetworkPolicy } from "../manifests/network-policy.ts";
import { FUNCTION_CONTAINER, renderFunctionPod } from "../manifests/pod.ts";
import { renderScheduling } from "../manifests/scheduling.ts";
import type { Manifest, RenderedFunction, WorkloadRef } from "../model/rendered.ts";
import type { WorkloadContext } from "../manifests/pod.ts";
import { autoscalerMaximum } from "../plan/scale.ts";
import { renderFunctionService } from "./function-service.ts";
import type { FunctionChildren } from "./workload.ts";

interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Renders the workload of a function with the common name, labels and annotations. */
export function renderWorkload({ plan, fn }: WorkloadContext, { apiVersion, kind, name, body }: Workload): Manifest {
  return createManifest(
    plan.input,
    {
      apiVersion,
      kind,
      name,
      labels: componentLabels(plan.input, fn.name, "function", fn.key),
      annotations: { [FUNCTION_KEY_ANNOTATION]: fn.key, [TEMPLATE_ANNOTATION]: plan.policy.id },
    },
    { spec: body },
  );
}

/** Renders a pod template: labels, pod and scheduling. */
export function renderPodTemplate(context: WorkloadContext, revisionLabel?: string): Readonly<Record<string, unknown>> {
  const { plan, fn } = context;
  const { input, policy } = plan;
  return {
    metadata: {
      labels: componentLabels(input, fn.name, "function", fn.key),
      annotations: fn.spec.provision_config?.need_http2 === true ? { "oaas.io/http2": "true" } : undefined,
    },
    spec: {
      ...renderFunctionPod(context),
      ...renderScheduling({
        input,
        policy,
        selector: selectorLabels(input, fn.name),
        spread: policy.spread,
        location: fn.spec.available_location,
        stated: fn.spec.provision_config,
        revisionLabel,
      }),
    },
  };
}

/** Disruption budget (for more than one pod) and network policy of a function. */
export function renderPodPolicies(
  { input, policy }: ClassPlan,
  fn: FunctionPlan,
  replicas: number,
): readonly Manifest[] {
  const labels = componentLabels(input, fn.name, "function", fn.key);
  const selector = selectorLabels(input, fn.name);
  const budgeted = policy.disruptionBudget && input.cluster.capabilities.podDisruptionBudget && replicas > 1;
  return [
    ...(budgeted ? [renderDisruptionBudget(input, { name: fn.name, labels, selector })] : []),
    ...(hasNetworkPolicy(input)
      ? [renderNetworkPolicy(input, { name: fn.name, labels, selector, ports: [fn.port] })]
      : []),
  ];
}

export function workloadRef({ apiVersion, kind, metadata }: KubeObject): WorkloadRef {
  return { apiVersion, kind, namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** A rendered function behind a Service. */
export function callableFunction(
  fn: FunctionPlan,
  workload: Manifest,
  scale: Pick<
    RenderedFunction,
    "replicas" | "maxReplicas" | "replicasOwner" | "replicaLimits" | "maximumLimits" | "whyReplicasFixed"
  >,
): RenderedFunction {
  return {
    functionKey: fn.key,
    runtime: "workload",
    workload: workloadRef(workload),
    service: fn.name,
    port: SERVICE_PORT,
    predictedUrl: fn.url,
    ...scale,
    ...functionResources(fn, workload),
  };
}

interface PodOwner extends KubeObject {
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly NamedContainer[] } } };
}

interface NamedContainer {
  readonly name?: string;
  readonly resources?: unknown;
}

/** The resources of the function container, unless a user template states others. */
function functionResources(fn: FunctionPlan, workload: PodOwner): Pick<RenderedFunction, "resources"> {
  const containers = workload.spec?.template?.spec?.containers ?? [];
  const container = containers.find(({ name }) => name === FUNCTION_CONTAINER);
  if (!equalJson(container?.resources, fn.resources)) return {};
  return { resources: { template: fn.resources, running: fn.runningResources } };
}

const TO_ZERO = "min_scale 0 lets the function scale to zero; an enforced minimum would keep replicas without requests";

/** The limits of enforcement, for workloads whose replicas it can choose. */
export function replicaLimits({ scale }: FunctionPlan): Pick<RenderedFunction, "replicaLimits" | "whyReplicasFixed"> {
  if (scale.toZero === true) return { whyReplicasFixed: TO_ZERO };
  return scale.limits === undefined ? {} : { replicaLimits: scale.limits };
}

/** The limits of the maximum of an autoscaler, when the class lets enforcement raise it. */
export function maximumLimits({ scale }: FunctionPlan): Pick<RenderedFunction, "maximumLimits"> {
  const { statedMax: min, limits } = scale;
  return min === undefined || limits?.max === undefined ? {} : { maximumLimits: { min, max: limits.max } };
}

/** Renders a workload with its Service, autoscaler and policies. */
export function renderScalableFunction(
  { plan, fn }: WorkloadContext,
  workload: Manifest,
  replicas: number,
): FunctionChildren {
  const scaled = isAutoscaled(plan, fn);
  const max = autoscalerMaximum(fn.scale);
  return {
    children: [
      renderFunctionService(plan, fn),
      workload,
      ...(scaled ? [renderAutoscaler(plan, fn, workloadRef(workload))] : []),
      ...renderPodPolicies(plan, fn, replicas),
    ],
    rendered: callableFunction(fn, workload, {
      replicas,
      ...(scaled && max !== undefined ? { maxReplicas: max } : {}),
      replicasOwner: scaled ? "autoscaler" : "template",
      ...replicaLimits(fn),
      ...(scaled ? maximumLimits(fn) : {}),
    }),
  };
}
