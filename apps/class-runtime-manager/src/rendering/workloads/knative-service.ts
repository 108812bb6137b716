import { whyNoKnative } from "../model/cluster-facts.ts";
import { componentLabels, ENFORCED_MIN_SCALE_ANNOTATION, selectorLabels } from "../manifests/labels.ts";
import { envList } from "../manifests/env.ts";
import { omitEmpty } from "../manifests/manifest.ts";
import { scrapeAnnotations } from "../manifests/monitor.ts";
import { knativeMaxScale } from "../plan/scale.ts";
import { renderFunctionContainer, renderPodIdentity, renderVolumes } from "../manifests/pod.ts";
import { renderNetworkPolicy, hasNetworkPolicy } from "../manifests/network-policy.ts";
import type { WorkloadContext } from "../manifests/pod.ts";
import type { WorkloadRenderer } from "./workload.ts";
import type { FunctionPlan } from "../plan/class-plan.ts";
import { knativeViolations } from "./knative-limits.ts";
import { renderWorkload, callableFunction, replicaLimits } from "./function-children.ts";

/** Knative sets these itself and rejects revisions that set them. */
const RESERVED_ENV = new Set(["PORT", "K_SERVICE", "K_CONFIGURATION", "K_REVISION"]);

/**
 * Functions as Knative Services, which scale to zero.
 *
 * Only settings that a default installation of Knative accepts are rendered: no init containers, no affinity. Node
 * selector and tolerations are rendered when the environment sets them, and need the matching Knative features.
 */
export const knativeRenderer: WorkloadRenderer = {
  callable: true,
  reservedEnv: RESERVED_ENV,
  podViolations: knativeViolations,
  whyNotToZero: whyNoKnative,
  render(context) {
    const { plan, fn } = context;
    const { input } = plan;
    const base = renderWorkload(context, {
      apiVersion: "serving.knative.dev/v1",
      kind: "Service",
      name: fn.name,
      body: { template: revision(context) },
    });
    const workload = {
      ...base,
      metadata: {
        ...base.metadata,
        labels: { ...base.metadata.labels, "networking.knative.dev/visibility": "cluster-local" },
        annotations: {
          ...base.metadata.annotations,
          ...(fn.scale.plannedMin === undefined ? {} : { [ENFORCED_MIN_SCALE_ANNOTATION]: String(fn.scale.min) }),
        },
      },
    };
    const labels = componentLabels(input, fn.name, "function", fn.key);
    const selector = selectorLabels(input, fn.name);
    return {
      children: [
        workload,
        ...(hasNetworkPolicy(input)
          ? [renderNetworkPolicy(input, { name: fn.name, labels, selector, ports: PROXY_PORTS })]
          : []),
      ],
      rendered: callableFunction(fn, workload, {
        replicas: fn.scale.min,
        ...(knativeMaxScale(fn.scale) === undefined ? {} : { maxReplicas: knativeMaxScale(fn.scale) as number }),
        replicasOwner: "knative",
        ...knativeLimits(fn),
      }),
    };
  },
};

/** Knative accepts no minimum above its maximum, and another maximum would be another revision. */
export function knativeLimits(fn: FunctionPlan): ReturnType<typeof replicaLimits> {
  const stated = replicaLimits(fn);
  const { replicaLimits: limits } = stated;
  const most = knativeMaxScale(fn.scale);
  if (limits?.max === undefined || most === undefined || limits.max.value <= most) return stated;
  return { replicaLimits: { ...limits, max: { value: most, source: "max_scale" } } };
}

/** Callers reach the queue proxy of Knative, not the port of the function. */
export const PROXY_PORTS = [8012, 8013, 8022, 9090, 9091];

function revision(context: WorkloadContext): Readonly<Record<string, unknown>> {
  const { plan, fn, env } = context;
  const { input } = plan;
  const provision = fn.spec.provision_config;
  const http2 = provision?.need_http2 === true;
  const environment = input.environment?.spec;
  const { readinessProbe, livenessProbe, startupProbe, ...container } = renderFunctionContainer(context);
  const probed = fn.spec.health_check !== undefined;
  const mostPods = knativeMaxScale(fn.scale);
  const fewestPods = fn.scale.plannedMin ?? fn.scale.min;
  return {
    metadata: {
      labels: componentLabels(input, fn.name, "function", fn.key),
      annotations: omitEmpty({
        ...(fn.scale.stated || fewestPods > 0 ? { "autoscaling.knative.dev/minScale": String(fewestPods) } : {}),
        ...(mostPods === undefined ? {} : { "autoscaling.knative.dev/maxScale": String(mostPods) }),
        ...(http2 ? { "networking.knative.dev/http2": "true" } : {}),
        // Independent of the kinds that the cluster serves: another annotation is another revision.
        ...(input.cluster.features.prometheus ? scrapeAnnotations(fn.port) : {}),
      }),
    },
    spec: {
      containerConcurrency: (provision?.max_concurrency ?? 0) > 0 ? provision?.max_concurrency : undefined,
      containers: [
        {
          ...container,
          startupProbe: provision?.startupProbe === undefined ? undefined : startupProbe,
          env: envList(env, provision?.env),
          ports: [{ name: http2 ? "h2c" : "http1", containerPort: fn.port, protocol: "TCP" }],
          readinessProbe: probed || provision?.readinessProbe !== undefined ? readinessProbe : undefined,
          livenessProbe: probed || provision?.livenessProbe !== undefined ? livenessProbe : undefined,
        },
      ],
      volumes: renderVolumes(context),
      nodeSelector: environment?.nodeSelector,
      tolerations: omitEmpty(environment?.tolerations),
      priorityClassName: environment?.priorityClassName,
      ...renderPodIdentity(environment, provision),
    },
  };
}
