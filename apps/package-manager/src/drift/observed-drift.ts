import { LifecyclePhase, type ClusterName, type UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import { conditionOf, placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";

/** What a cluster said about its units, in short. */
export type ClusterReports = ReadonlyMap<
  UnitId,
  Pick<UnitReport, "digest" | "revision" | "generation" | "condition" | "phase">
>;

/**
 * A deployment with what clusters said taken in; the very same record when they said nothing new.
 *
 * A unit that is missing, or other than the one accepted, is no longer accepted: that is what a repair goes by.
 */
export function withReports(
  record: DeploymentRecord,
  reports: ReadonlyMap<ClusterName, ClusterReports>,
): DeploymentRecord {
  let changed = false;
  const placements: Record<ClusterName, Placement> = {};
  for (const [cluster, placement] of placementEntries(record)) {
    const told = reports.get(cluster);
    const next = told === undefined ? placement : observed(placement, told, record.unitRevision);
    placements[cluster] = next;
    changed ||= next !== placement;
  }
  if (!changed) return record;
  const next = { ...record, placements };
  return { ...next, condition: conditionOf(next) };
}

function observed(placement: Placement, reports: ClusterReports, lastRevision: number): Placement {
  if (placement.state !== "wanted" || !placement.accepted) return placement;
  const report = reports.get(placement.unitId);
  if (report === undefined || isOther(placement, report, lastRevision)) {
    const { observed: _, generation: __, ...rest } = placement;
    return { ...rest, accepted: false };
  }
  const { condition, generation = placement.generation } = report;
  if (condition === placement.observed && generation === placement.generation) return placement;
  return { ...placement, observed: condition, ...(generation === undefined ? {} : { generation }) };
}

/** A manager that echoes neither digests nor generations is taken at its word that the unit is there. */
function isOther(
  { digest, generation }: Placement,
  report: Pick<UnitReport, "digest" | "revision" | "generation" | "phase">,
  lastRevision: number,
): boolean {
  if (report.phase === LifecyclePhase.deleting) return true;
  if (report.digest !== undefined && report.digest !== digest) return true;
  // The same, sent later than this store remembers, as after a restore of an older backup: nobody edited it.
  if ((report.revision ?? 0) > lastRevision) return false;
  // The digest is an echo of what was sent: it stays when the object is edited in the cluster.
  return report.generation !== undefined && generation !== undefined && report.generation !== generation;
}
