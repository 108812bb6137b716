import { isAutoscaled } from "../manifests/autoscaler.ts";
import { selectorLabels } from "../manifests/labels.ts";
import type { WorkloadContext } from "../manifests/pod.ts";
import { alwaysOnReplicas } from "../plan/scale.ts";
import type { Policy } from "../plan/policy.ts";
import type { WorkloadRenderer } from "./workload.ts";
import { renderWorkload, renderPodTemplate } from "./function-children.ts";
import { renderScalableFunction } from "./function-children.ts";

/** Functions as Deployments. With an autoscaler, the Deployment does not state replicas. */
export const deploymentRenderer: WorkloadRenderer = {
  callable: true,
  reservedEnv: new Set(),
  whyNotToZero: () => "a Deployment has no scaler that starts a replica on a request",
  render(context) {
    const { plan, fn } = context;
    const { policy, input } = plan;
    const replicas = alwaysOnReplicas(fn.scale);
    const scaled = isAutoscaled(plan, fn);
    const workload = renderWorkload(context, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: fn.name,
      body: {
        replicas: scaled ? undefined : replicas,
        selector: { matchLabels: selectorLabels(input, fn.name) },
        strategy: updateStrategy(context, replicas),
        minReadySeconds: policy.minReadySeconds,
        template: renderPodTemplate(context, "pod-template-hash"),
      },
    });
    return renderScalableFunction(context, workload, replicas);
  },
};

/** A single pod is replaced only after the new one is ready, so that the function keeps serving. */
const KEEP_SERVING: Policy["rollingUpdate"] = { maxSurge: 1, maxUnavailable: 0 };

function updateStrategy(context: WorkloadContext, replicas: number): object | undefined {
  const { rollingUpdate } = context.plan.policy;
  if (rollingUpdate === undefined) return undefined;
  const isKeptServing = replicas === 1 && rollingUpdate.maxSurge === 0 && !mountsClaim(context);
  return { type: "RollingUpdate", rollingUpdate: isKeptServing ? KEEP_SERVING : rollingUpdate };
}

/** A claim may be ReadWriteOnce: a second pod on another node would wait for it forever. */
function mountsClaim({ fn }: WorkloadContext): boolean {
  return fn.spec.volumes?.some((volume) => "persistentVolumeClaim" in volume) ?? false;
}
