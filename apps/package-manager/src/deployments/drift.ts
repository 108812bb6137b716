import { LifecyclePhase, type ClusterName, type UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import { conditionOf, placementsIn, type DeploymentRecord, type Placement } from "./deployment-record.ts";

/** What a cluster said about its units, in short. */
export type ClusterReports = ReadonlyMap<UnitId, Pick<UnitReport, "digest" | "condition" | "phase">>;

/**
 * A deployment with what clusters said taken in; the very same record when they said nothing new.
 *
 * A unit that is missing, or other than the one accepted, is no longer accepted: that is what a repair goes by.
 */
export function observedIn(
  record: DeploymentRecord,
  reports: ReadonlyMap<ClusterName, ClusterReports>,
): DeploymentRecord {
  let changed = false;
  const placements: Record<ClusterName, Placement> = {};
  for (const [cluster, placement] of placementsIn(record)) {
    const told = reports.get(cluster);
    const next = told === undefined ? placement : observed(placement, told);
    placements[cluster] = next;
    changed ||= next !== placement;
  }
  if (!changed) return record;
  const next = { ...record, placements };
  return { ...next, condition: conditionOf(next) };
}

function observed(placement: Placement, reports: ClusterReports): Placement {
  if (placement.state !== "wanted" || !placement.accepted) return placement;
  const report = reports.get(placement.unitId);
  if (report === undefined || isOther(placement, report)) {
    const { observed: _, ...rest } = placement;
    return { ...rest, accepted: false };
  }
  return report.condition === placement.observed ? placement : { ...placement, observed: report.condition };
}

/** A manager that does not echo digests is taken at its word that the unit is there. */
function isOther({ digest }: Placement, report: Pick<UnitReport, "digest" | "phase">): boolean {
  return report.phase === LifecyclePhase.deleting || (report.digest !== undefined && report.digest !== digest);
}
