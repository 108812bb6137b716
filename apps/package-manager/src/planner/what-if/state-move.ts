import { equalJson } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { pluralize } from "../explanation/format.ts";
import type { DeploymentPlan } from "../plan-types.ts";
import { stateAfterLoss } from "./cluster-loss.ts";

/**
 * What happens to stored objects when a plan replaces the one in force while clusters are lost. Undefined for a class
 * without state, and when the nodes of the state store stay where they are.
 */
export function stateMove(
  before: DeploymentPlan,
  after: DeploymentPlan,
  lost: readonly ClusterName[],
): string | undefined {
  if (before.odgm === undefined || equalJson(before.odgm, after.odgm)) return undefined;
  const kept = new Set(after.units.map(({ cluster }) => cluster));
  const left = before.units.map(({ cluster }) => cluster).filter((cluster) => !kept.has(cluster));
  if (left.length === 0) return "objects are copied between nodes of the remaining clusters";
  const { partitions, availablePartitions } = stateAfterLoss(before, new Set(left));
  const names = left.join(" and ");
  const isLost = left.some((cluster) => lost.includes(cluster));
  const share = `${availablePartitions} of ${pluralize(partitions, "partition")} stay available without ${names}`;
  if (partitions > 0 && availablePartitions === partitions) return share;
  const rest = isLost
    ? `objects of the others are left behind in ${names}, and deleted when it returns and its unit is removed`
    : `objects of the others are deleted with the unit in ${names}, unless the state store copies them before`;
  return `${share}; ${rest}`;
}
