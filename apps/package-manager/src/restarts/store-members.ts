import type { ClusterName } from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import type { UnitReport } from "../ports.ts";
import type { StoreMember } from "./decide-turn.ts";

/** The last report about a unit, or why there is none. */
export type UnitReading = Pick<UnitReport, "runtime"> | { readonly unknown: string };

/**
 * The clusters that have members of the state store of a deployment: those with nodes in the plan in force, and those that
 * report a state store. Without a readable plan every cluster counts.
 */
export function storeMembers(
  record: DeploymentRecord,
  plan: Pick<DeploymentPlan, "odgm"> | undefined,
  read: (cluster: ClusterName, placement: Placement) => UnitReading,
): readonly StoreMember[] {
  const members = placementEntries(record).flatMap(([cluster, placement]): StoreMember[] => {
    if (placement.state === "withdrawn") return [];
    const { unitId, namespace } = placement;
    const report = stateOf(read(cluster, placement));
    const isPlanned = plan === undefined || (plan.odgm?.nodeIds[cluster]?.length ?? 0) > 0;
    if (!isPlanned && "unknown" in report) return [];
    return [{ cluster, unitId, ...(namespace === undefined ? {} : { namespace }), report }];
  });
  return members.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

function stateOf(reading: UnitReading): StoreMember["report"] {
  if ("unknown" in reading) return reading;
  return reading.runtime.status?.stateStore ?? { unknown: "it reports no state store" };
}

/** Whether any cluster reports that a node waits for its turn. */
export function isAnyWaiting(members: readonly StoreMember[]): boolean {
  return members.some(({ report }) => !("unknown" in report) && report.restart?.state === "waiting-for-turn");
}
