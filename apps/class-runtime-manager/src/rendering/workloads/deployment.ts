import { isAutoscaled } from "../manifests/autoscaler.ts";
import { selectorLabels } from "../manifests/labels.ts";
import { awakeReplicas } from "../plan/scale.ts";
import type { WorkloadMaker } from "./workload.ts";
import { functionWorkload, podTemplate } from "./function-children.ts";
import { scaledFunction } from "./function-children.ts";

/** Functions as Deployments. Where an autoscaler decides, the Deployment says nothing about replicas. */
export const deploymentMaker: WorkloadMaker = {
  callable: true,
  reservedEnv: new Set(),
  make(context) {
    const { plan, fn } = context;
    const { policy, input } = plan;
    const replicas = awakeReplicas(fn.scale);
    const scaled = isAutoscaled(plan, fn);
    const workload = functionWorkload(context, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: fn.name,
      body: {
        replicas: scaled ? undefined : replicas,
        selector: { matchLabels: selectorLabels(input, fn.name) },
        strategy: policy.surge === undefined ? undefined : { type: "RollingUpdate", rollingUpdate: policy.surge },
        minReadySeconds: policy.minReadySeconds,
        template: podTemplate(context, "pod-template-hash"),
      },
    });
    return scaledFunction(context, workload, replicas);
  },
};
