import { selectorLabels } from "../manifests/labels.ts";
import type { WorkloadMaker } from "./workload.ts";
import { functionWorkload, guards, podTemplate, servedFunction } from "./function-children.ts";
import { functionService } from "./function-service.ts";

/** Functions with one pod on every node of the environment. Scale is the number of nodes, whatever bounds say. */
export const daemonSetMaker: WorkloadMaker = {
  callable: true,
  reservedEnv: new Set(),
  make(context) {
    const { plan, fn } = context;
    const workload = functionWorkload(context, {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      name: fn.name,
      body: {
        selector: { matchLabels: selectorLabels(plan.input, fn.name) },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        minReadySeconds: plan.policy.minReadySeconds,
        template: podTemplate(context),
      },
    });
    return {
      children: [functionService(plan, fn), workload, ...guards(plan, fn, 1)],
      rendered: servedFunction(fn, workload, { replicasOwner: "nodes" }),
    };
  },
};
