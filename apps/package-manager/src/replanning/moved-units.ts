import { equalJson } from "@oaas/foundation";
import { RolloutGate, type ClassDeployment, type ClusterName } from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { Drain } from "../ports.ts";

/** Whether two plans use different clusters. */
export function isPlacementChanged(before: DeploymentPlan, after: DeploymentPlan): boolean {
  return !equalJson(clustersOf(before), clustersOf(after));
}

/** Whether the user permits a re-plan or the operator a drain to move the state store, which loses its objects. */
export function mayMoveState(
  { replanAllowStateLoss }: Pick<ClassDeployment, "replanAllowStateLoss">,
  drain?: Pick<Drain, "allowsStateLoss">,
): boolean {
  return replanAllowStateLoss === true || drain?.allowsStateLoss === true;
}

/** The gate of a roll-out that moves units: one that answers requests is removed when its replacement is available. */
export function gateFor(
  before: DeploymentPlan,
  after: DeploymentPlan,
  lost: readonly ClusterName[],
): RolloutGate | undefined {
  const kept = new Set(clustersOf(after));
  const leavesServing = clustersOf(before).some((cluster) => !kept.has(cluster) && !lost.includes(cluster));
  return leavesServing ? RolloutGate.available : undefined;
}

function clustersOf({ units }: DeploymentPlan): readonly ClusterName[] {
  return units.map(({ cluster }) => cluster);
}
