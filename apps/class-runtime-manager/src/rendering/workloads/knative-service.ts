import { componentLabels, selectorLabels } from "../manifests/labels.ts";
import { envList } from "../manifests/env.ts";
import { unlessEmpty } from "../manifests/manifest.ts";
import { functionContainer, podIdentity } from "../manifests/pod.ts";
import { networkPolicy, wantsNetworkPolicy } from "../manifests/network-policy.ts";
import type { WorkloadContext } from "../manifests/pod.ts";
import type { WorkloadMaker } from "./workload.ts";
import { functionWorkload, servedFunction } from "./function-children.ts";

/** Knative sets these itself and refuses a revision that brings them. */
const RESERVED = new Set(["PORT", "K_SERVICE", "K_CONFIGURATION", "K_REVISION"]);

/**
 * Functions as Knative Services, which scale to zero and back by themselves.
 *
 * Only what a plain installation of Knative accepts is rendered: no init containers, no affinity; node selector and
 * tolerations when the environment has them (Knative must have them switched on then).
 */
export const knativeMaker: WorkloadMaker = {
  callable: true,
  reservedEnv: RESERVED,
  make(context) {
    const { plan, fn } = context;
    const { input } = plan;
    const base = functionWorkload(context, {
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
          "prometheus.io/scrape": "true",
          "prometheus.io/port": String(fn.port),
          "prometheus.io/path": "/metrics",
        },
      },
    };
    const labels = componentLabels(input, fn.name, "function", fn.key);
    const selector = selectorLabels(input, fn.name);
    return {
      children: [
        workload,
        ...(wantsNetworkPolicy(input)
          ? [networkPolicy(input, { name: fn.name, labels, selector, ports: PROXY_PORTS })]
          : []),
      ],
      rendered: servedFunction(fn, workload, {
        replicas: fn.scale.min,
        ...(fn.scale.max === undefined ? {} : { maxReplicas: fn.scale.max }),
        replicasOwner: "knative",
      }),
    };
  },
};

/** Callers reach Knative's proxy beside the function, not the function's own port. */
const PROXY_PORTS = [8012, 8013, 8022, 9090, 9091];

function revision(context: WorkloadContext): Readonly<Record<string, unknown>> {
  const { plan, fn, env } = context;
  const { input } = plan;
  const provision = fn.spec.provision_config;
  const http2 = provision?.need_http2 === true;
  const environment = input.environment?.spec;
  const { readinessProbe, livenessProbe, ...container } = functionContainer(context);
  const probed = fn.spec.health_check !== undefined;
  return {
    metadata: {
      labels: componentLabels(input, fn.name, "function", fn.key),
      annotations: unlessEmpty({
        ...(fn.scale.stated || fn.scale.min > 0 ? { "autoscaling.knative.dev/minScale": String(fn.scale.min) } : {}),
        ...(fn.scale.max === undefined ? {} : { "autoscaling.knative.dev/maxScale": String(fn.scale.max) }),
        ...(http2 ? { "networking.knative.dev/http2": "true" } : {}),
      }),
    },
    spec: {
      containerConcurrency: (provision?.max_concurrency ?? 0) > 0 ? provision?.max_concurrency : undefined,
      containers: [
        {
          ...container,
          startupProbe: undefined,
          env: envList(env),
          ports: [{ name: http2 ? "h2c" : "http1", containerPort: fn.port, protocol: "TCP" }],
          readinessProbe: probed ? readinessProbe : undefined,
          livenessProbe: probed ? livenessProbe : undefined,
        },
      ],
      volumes: unlessEmpty(fn.spec.volumes),
      nodeSelector: environment?.nodeSelector,
      tolerations: unlessEmpty(environment?.tolerations),
      priorityClassName: environment?.priorityClassName,
      ...podIdentity(environment),
    },
  };
}
