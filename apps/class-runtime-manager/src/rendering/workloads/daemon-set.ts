import { selectorLabels } from "../manifests/labels.ts";
import type { WorkloadRenderer } from "./workload.ts";
import { renderWorkload, renderPodPolicies, renderPodTemplate, callableFunction } from "./function-children.ts";
import { renderFunctionService } from "./function-service.ts";

/** Functions with one pod on every node of the environment; scale limits are ignored. */
export const daemonSetRenderer: WorkloadRenderer = {
  callable: true,
  reservedEnv: new Set(),
  whyNotToZero: () => "a DaemonSet has one replica on every node",
  render(context) {
    const { plan, fn } = context;
    const workload = renderWorkload(context, {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      name: fn.name,
      body: {
        selector: { matchLabels: selectorLabels(plan.input, fn.name) },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        minReadySeconds: plan.policy.minReadySeconds,
        template: renderPodTemplate(context),
      },
    });
    return {
      children: [renderFunctionService(plan, fn), workload, ...renderPodPolicies(plan, fn, 1)],
      rendered: callableFunction(fn, workload, { replicasOwner: "nodes" }),
    };
  },
};
