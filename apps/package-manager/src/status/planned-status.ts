import { omitUndefined } from "@oaas/contracts/rest";
import { DeploymentCondition, type ClusterDeploymentStatus, type DeploymentStatus } from "@oaas/models";
import { presentAvailability } from "../planner/explanation/planned-availability.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";

/** Adds what the plan in force promises, and what is left of it while clusters are down. */
export function withPlan(status: DeploymentStatus, plan: DeploymentPlan | undefined): DeploymentStatus {
  if (plan === undefined) return status;
  return omitUndefined({
    ...status,
    plannedAvailability: plan.availability,
    presentAvailability: presentAvailability(plan, clustersDown(status, plan)),
  });
}

/** The planned clusters that do not run the class, as far as is known. */
function clustersDown({ clusters }: DeploymentStatus, { units }: DeploymentPlan): ReadonlySet<string> {
  const up = new Set(clusters.filter(isUp).map(({ cluster }) => cluster));
  return new Set(units.map(({ cluster }) => cluster).filter((cluster) => !up.has(cluster)));
}

function isUp({ reachable, condition }: ClusterDeploymentStatus): boolean {
  return reachable && condition !== DeploymentCondition.down && condition !== DeploymentCondition.deleted;
}
