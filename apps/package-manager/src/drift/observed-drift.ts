import { LifecyclePhase, type ClusterName, type UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import { conditionOf, placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";

/** The reports of one cluster about its units. */
export type ClusterReports = ReadonlyMap<
  UnitId,
  Pick<UnitReport, "digest" | "revision" | "generation" | "condition" | "phase">
>;

export type Reports = ReadonlyMap<ClusterName, ClusterReports>;

/**
 * Merges reports of clusters into a deployment; returns the same object when nothing changed.
 *
 * A unit that is missing or differs from the accepted one is no longer accepted, which triggers a repair.
 */
export function withReports(record: DeploymentRecord, reports: Reports): DeploymentRecord {
  let isChanged = false;
  const placements: Record<ClusterName, Placement> = {};
  for (const [cluster, placement] of placementEntries(record)) {
    const reported = reports.get(cluster);
    const next = reported === undefined ? placement : mergeReports(placement, reported, record.unitRevision);
    placements[cluster] = next;
    isChanged ||= next !== placement;
  }
  if (!isChanged) return record;
  const next = { ...record, placements };
  return { ...next, condition: conditionOf(next) };
}

function mergeReports(placement: Placement, reports: ClusterReports, lastRevision: number): Placement {
  if (placement.state !== "wanted" || !placement.accepted) return placement;
  const report = reports.get(placement.unitId);
  if (report === undefined || hasDrifted(placement, report, lastRevision)) {
    const { observed: _, generation: __, ...rest } = placement;
    return { ...rest, accepted: false };
  }
  const { condition, generation = placement.generation } = report;
  if (condition === placement.observed && generation === placement.generation) return placement;
  return { ...placement, observed: condition, ...(generation === undefined ? {} : { generation }) };
}

/** A manager that reports neither digests nor generations can only show that the unit exists. */
function hasDrifted(
  { digest, generation }: Placement,
  report: Pick<UnitReport, "digest" | "revision" | "generation" | "phase">,
  lastRevision: number,
): boolean {
  if (report.phase === LifecyclePhase.deleting) return true;
  if (report.digest !== undefined && report.digest !== digest) return true;
  // The same content with a newer revision, as after a restore of an older backup: it was sent, not edited.
  if ((report.revision ?? 0) > lastRevision) return false;
  // The digest repeats what was sent; only the generation shows that the object was edited in the cluster.
  return report.generation !== undefined && generation !== undefined && report.generation !== generation;
}
