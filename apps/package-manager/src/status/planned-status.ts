import { omitUndefined } from "@oaas/contracts/rest";
import {
  DeploymentCondition,
  type ClusterCost,
  type ClusterDeploymentStatus,
  type ClusterName,
  type DeploymentStatus,
} from "@oaas/models";
import { presentAvailability } from "../planner/explanation/planned-availability.ts";
import { statedRequirements } from "../planner/explanation/requirements.ts";
import { priceOf } from "../planner/price/plan-price.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";

import type { UnitObservation } from "./aggregate-status.ts";
import { requirementStatus } from "./requirement-status.ts";

/** Adds what the plan in force promises, and what is left of it while clusters are down. */
export function withPlan(
  status: DeploymentStatus,
  plan: DeploymentPlan | undefined,
  observations: ReadonlyMap<ClusterName, UnitObservation>,
  costOf: (cluster: ClusterName) => ClusterCost | undefined,
): DeploymentStatus {
  if (plan === undefined) return status;
  const planned = new Set(plan.units.map(({ cluster }) => cluster));
  const measuring = status.clusters
    .filter(({ cluster }) => planned.has(cluster))
    .map((each) => omitUndefined({ ...each, notObserved: observations.get(each.cluster)?.unit?.report.notObserved }));
  return omitUndefined({
    ...status,
    plannedAvailability: plan.availability,
    price: priceOf(plan, costOf),
    presentAvailability: presentAvailability(plan, clustersDown(status, plan)),
    requirements: statedRequirements(plan).map((stated) => requirementStatus(stated, measuring)),
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
