import { ok, type Result } from "@oaas/foundation";
import type { ClusterLoss } from "@oaas/models";
import { findUnknownClusters } from "../placement/candidates.ts";
import { planDeployment } from "../plan.ts";
import type { CompletePlan, PlanInput, PlanRefusal } from "../plan-types.ts";
import { clusterLoss, type PlacementWithout } from "./cluster-loss.ts";

export interface WhatIfPlan {
  readonly plan: CompletePlan;
  /** What the assumed loss of clusters does to the deployment. */
  readonly loss?: ClusterLoss;
}

/**
 * Plans a deployment under assumptions. If clusters are assumed down, the loss is that of the plan with these clusters.
 * The plan is the one without them, unless the deployment names its clusters, has objects in them, or cannot do without
 * them.
 */
export function planWhatIf(input: PlanInput): Result<WhatIfPlan, PlanRefusal> {
  const { clustersDown = [], ...otherwise } = input.whatIf ?? {};
  const without = planDeployment(input);
  if (clustersDown.length === 0 || findUnknownClusters(input).length > 0) return planOnly(without);
  const before = planDeployment({ ...input, whatIf: otherwise });
  if (!before.ok) return planOnly(without);

  const placement: PlacementWithout =
    input.deployment.targetClusters.length > 0
      ? { kind: "named" }
      : before.value.odgm !== undefined && input.deployment.replanAllowStateLoss !== true
        ? { kind: "stateful" }
        : without.ok
          ? { kind: "planned", plan: without.value }
          : { kind: "refused", message: without.error.message };
  const plan = placement.kind === "planned" ? placement.plan : before.value;
  return ok({ plan, loss: clusterLoss(before.value, [...new Set(clustersDown)], placement, input.deployment.replan) });
}

function planOnly(planned: Result<CompletePlan, PlanRefusal>): Result<WhatIfPlan, PlanRefusal> {
  return planned.ok ? ok({ plan: planned.value }) : planned;
}
