import { isAutoscaled } from "../manifests/autoscaler.ts";
import { selectorLabels } from "../manifests/labels.ts";
import { alwaysOnReplicas } from "../plan/scale.ts";
import type { WorkloadRenderer } from "./workload.ts";
import { renderWorkload, renderPodTemplate } from "./function-children.ts";
import { renderScalableFunction } from "./function-children.ts";

/** Functions as Deployments. With an autoscaler, the Deployment does not state replicas. */
export const deploymentRenderer: WorkloadRenderer = {
  callable: true,
  reservedEnv: new Set(),
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
        strategy:
          policy.rollingUpdate === undefined
            ? undefined
            : { type: "RollingUpdate", rollingUpdate: policy.rollingUpdate },
        minReadySeconds: policy.minReadySeconds,
        template: renderPodTemplate(context, "pod-template-hash"),
      },
    });
    return renderScalableFunction(context, workload, replicas);
  },
};
