import { timestamp } from "@oaas/foundation";
import { driftSummary, LifecyclePhase, type ClusterName, type DriftCorrection, type UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import { UnitTable } from "../records/unit-table.ts";
import { conditionOf, placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";

/** The reports of one cluster about its units. */
export interface ClusterReports {
  /** The report about a unit. Without a namespace, any report with the id. */
  get(unitId: UnitId, namespace?: string): ReportedUnit | undefined;
}

/** Reports of one cluster by unit. */
export function reportsByUnit(reports: Iterable<UnitReport> = []): UnitTable<UnitReport> {
  return new UnitTable((report) => report, reports);
}

type ReportedUnit = Pick<UnitReport, "digest" | "revision" | "generation" | "condition" | "phase" | "runtime">;

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

/**
 * Records in each placement that `after` no longer accepts what was found instead of the unit; the same object when
 * there is none. The correction has a duration when the cluster has accepted the unit again.
 */
export function withUnitDrift(
  before: DeploymentRecord,
  after: DeploymentRecord,
  reports: Reports,
  nowMs: number,
): DeploymentRecord {
  const drifted = placementEntries(after).filter(
    ([cluster, { accepted }]) => !accepted && before.placements[cluster]?.accepted === true,
  );
  if (drifted.length === 0) return after;
  const changed = drifted.map(([cluster, placement]) => {
    const report = reports.get(cluster)?.get(placement.unitId, placement.namespace);
    return [cluster, { ...placement, drift: unitDrift(placement, report, timestamp(nowMs)) }] as const;
  });
  return { ...after, placements: { ...after.placements, ...Object.fromEntries(changed) } };
}

/** Clusters whose units were found changed, with the correction. */
export function driftedUnits(
  before: DeploymentRecord,
  after: DeploymentRecord,
): readonly (readonly [ClusterName, DriftCorrection])[] {
  return placementEntries(after).flatMap(([cluster, { drift }]) =>
    drift === undefined || drift === before.placements[cluster]?.drift ? [] : [[cluster, drift] as const],
  );
}

function unitDrift(
  { unitId, digest, drift }: Placement,
  report: ReportedUnit | undefined,
  at: string,
): DriftCorrection {
  const correction = {
    kind: "ClassRuntime",
    name: unitId,
    fields: [foundInstead(digest, report)],
    firstAt: drift?.firstAt ?? at,
    lastAt: at,
    count: (drift?.count ?? 0) + 1,
  };
  return { ...correction, message: driftSummary(correction) };
}

function foundInstead(digest: string | undefined, report: ReportedUnit | undefined): DriftCorrection["fields"][number] {
  if (report === undefined) return { path: "", was: "missing", now: "sent" };
  if (report.phase === LifecyclePhase.deleting) return { path: "", was: "being deleted", now: "sent" };
  if (report.digest !== undefined && report.digest !== digest) {
    return { path: ".spec", was: `digest ${report.digest.slice(0, 12)}`, now: `digest ${digest?.slice(0, 12)}` };
  }
  return { path: ".spec", was: `edited (generation ${report.generation})`, now: "sent" };
}

function mergeReports(placement: Placement, reports: ClusterReports, lastRevision: number): Placement {
  if (placement.state !== "wanted" || !placement.accepted) return placement;
  const report = reports.get(placement.unitId, placement.namespace);
  if (report === undefined || hasDrifted(placement, report, lastRevision)) {
    const { observed: _, generation: __, serving: ___, ...rest } = placement;
    return { ...rest, accepted: false, ...servingOf(report) };
  }
  const { condition, generation = placement.generation } = report;
  const { serving } = servingOf(report);
  if (condition === placement.observed && generation === placement.generation && serving === placement.serving)
    return placement;
  const { serving: _, ...rest } = placement;
  return { ...rest, observed: condition, ...(generation === undefined ? {} : { generation }), ...servingOf(report) };
}

function servingOf(report: Pick<UnitReport, "runtime"> | undefined): Pick<Placement, "serving"> {
  return report?.runtime.status?.serving === true ? { serving: true } : {};
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
