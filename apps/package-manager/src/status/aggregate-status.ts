import { omitUndefined } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import {
  combineConditions,
  DeploymentCondition,
  type ClusterName,
  type DeploymentKey,
  type ClusterDeploymentStatus,
  type DriftCorrection,
  type DeploymentStatus,
  type OperationStatus,
  type ReportedMetric,
} from "@oaas/models";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import { withOutcome } from "../records/revision-outcome.ts";
import type { ObservedUnit } from "./runtime-view.ts";

/** The observed state of a unit in one cluster. */
export interface UnitObservation {
  /** The latest known state, outdated if the cluster is unreachable; absent if the unit is missing or was never reported. */
  readonly unit?: ObservedUnit;
  readonly reachable: boolean;
  /** Why the cluster is unreachable. */
  readonly error?: string;
  /** What the cluster reported by itself. */
  readonly metrics?: readonly ReportedMetric[];
}

/** The status of a deployment: per cluster, and the worst condition of the desired clusters. */
export function aggregateStatus(
  key: DeploymentKey,
  record: DeploymentRecord,
  observations: ReadonlyMap<ClusterName, UnitObservation>,
  operation: OperationStatus | undefined,
): DeploymentStatus {
  const parts = placementEntries(record).map(([cluster, placement]) => ({
    placement,
    status: clusterStatus(cluster, placement, observations.get(cluster) ?? { reachable: false }),
  }));
  const desired = parts.filter(({ placement }) => placement.state === "wanted").map(({ status }) => status);
  return omitUndefined({
    key,
    condition: conditionOf(record, desired),
    message: messageOf(record, desired),
    revision: record.desired?.revision ?? record.revision,
    desiredClusters: desired.length,
    servingClusters: desired.filter(({ serving }) => serving).length,
    upToDateClusters: desired.filter(({ upToDate }) => upToDate).length,
    clusters: parts.map(({ status }) => status).toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1)),
    operation: withOutcome(operation, record),
    achievedQuorumAvailability: record.summary.achievedQuorumAvailability,
    updatedAt: latestUpdate(record, desired),
  });
}

function clusterStatus(cluster: ClusterName, placement: Placement, observed: UnitObservation): ClusterDeploymentStatus {
  const { unit, reachable } = observed;
  const runtime = unit?.report.runtime;
  return omitUndefined({
    cluster,
    unitId: placement.unitId,
    namespace: placement.namespace ?? unit?.report.namespace,
    reachable,
    condition: unitCondition(placement, observed),
    serving: isServing(observed),
    upToDate: isUpToDate(placement, observed),
    phase: reachable ? unit?.report.phase : undefined,
    message: unitMessage(placement, observed),
    functions: runtime?.status?.functions ?? [],
    stateStore: runtime?.status?.stateStore,
    nfrCompliance: runtime?.nfrCompliance,
    recommendations: runtime?.status?.recommendations,
    lastApplied: runtime?.status?.lastApplied,
    reportedMetrics: observed.metrics?.length ? observed.metrics : undefined,
    driftCorrections: driftOf(placement, runtime?.status?.driftCorrections),
    error: observed.error ?? placement.fault?.message,
    observedAt: unit && timestamp(unit.observedAtMs),
  });
}

/** The correction of the unit by the package manager, then those of its objects by the cluster. */
function driftOf(
  { drift }: Placement,
  inCluster: readonly DriftCorrection[] = [],
): readonly DriftCorrection[] | undefined {
  const all = [...(drift === undefined ? [] : [drift]), ...inCluster];
  return all.length === 0 ? undefined : all.toSorted((a, b) => (a.lastAt > b.lastAt ? -1 : 1));
}

function isServing({ unit, reachable }: UnitObservation): boolean {
  return reachable && unit?.report.runtime.status?.serving === true;
}

function isUpToDate({ state, accepted, digest }: Placement, { unit, reachable }: UnitObservation): boolean {
  const isAccepted = reachable && state === "wanted" && accepted;
  const isDesired = unit?.report.digest === undefined || unit.report.digest === digest;
  return isAccepted && isDesired && unit?.report.runtime.status?.upToDate === true;
}

function unitCondition({ state, accepted, fault }: Placement, observed: UnitObservation): DeploymentCondition {
  const { unit, reachable } = observed;
  if (!reachable) return DeploymentCondition.unknown;
  if (state === "withdrawn") return unit?.report.condition ?? DeploymentCondition.deleted;
  if (fault !== undefined) return isServing(observed) ? DeploymentCondition.degraded : DeploymentCondition.down;
  if (unit !== undefined) return accepted ? unit.report.condition : DeploymentCondition.deploying;
  return accepted ? DeploymentCondition.down : DeploymentCondition.pending;
}

function unitMessage({ state, accepted, fault }: Placement, { unit, reachable }: UnitObservation): string | undefined {
  if (state === "withdrawn") return reachable ? "being removed" : "will be removed when the cluster is reachable";
  if (state === "leaving")
    return `will be removed when the other units are in place${reachable ? "" : " and the cluster is reachable"}`;
  if (!reachable && unit !== undefined) return `last known state: ${unit.report.message ?? unit.report.condition}`;
  if (reachable && unit === undefined && accepted) return "missing in the cluster; it will be deployed again";
  if (unit !== undefined && !accepted && fault === undefined)
    return `the desired revision is not accepted yet; current state: ${unit.report.message ?? unit.report.condition}`;
  return unit?.report.message;
}

function conditionOf(record: DeploymentRecord, desired: readonly ClusterDeploymentStatus[]): DeploymentCondition {
  if (record.deletion !== undefined) return DeploymentCondition.deleted;
  if (record.desired === undefined) return DeploymentCondition.down;
  return combineConditions(desired);
}

/** How many clusters serve and are up to date, and why the others are not; undefined if all run the deployment. */
function messageOf(record: DeploymentRecord, desired: readonly ClusterDeploymentStatus[]): string | undefined {
  if (record.deletion !== undefined)
    return `being deleted, requested by ${record.deletion.by} at ${record.deletion.at}`;
  const others = desired
    .filter(({ condition }) => condition !== DeploymentCondition.running)
    .map(({ cluster, condition, error, message }) => `${cluster}: ${withoutFinalStop(error ?? message ?? condition)}`);
  if (others.length === 0) return desired.length > 0 ? undefined : record.summary.lastError;
  const count = (isCounted: (one: ClusterDeploymentStatus) => boolean): string =>
    `${desired.filter(isCounted).length} of ${desired.length}`;
  return [
    `serving in ${count(({ serving }) => serving)} clusters, up to date in ${count(({ upToDate }) => upToDate)}`,
    ...others,
  ].join("; ");
}

function withoutFinalStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function latestUpdate({ updatedAt }: DeploymentRecord, desired: readonly ClusterDeploymentStatus[]): string {
  return [updatedAt, ...desired.map(({ observedAt = "" }) => observedAt)].reduce((a, b) => (a > b ? a : b));
}
