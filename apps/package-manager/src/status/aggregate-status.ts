import { present } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import { DeploymentCondition, worstCondition, type ClusterName, type DeploymentKey } from "@oaas/models";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import type { ClusterDeploymentStatus, DeploymentStatus, OperationStatus } from "../use-cases.ts";
import type { ObservedUnit } from "./runtime-view.ts";

/** What could be learnt of a unit in its cluster. */
export interface UnitObservation {
  /** The newest there is, old when the cluster cannot be reached; absent when there is no such unit, or nobody ever told. */
  readonly unit?: ObservedUnit;
  readonly reachable: boolean;
  /** Why the cluster could not be asked. */
  readonly error?: string;
}

/** How a deployment is: cluster by cluster, and the worst of those in which it is wanted. */
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
  const wanted = parts.filter(({ placement }) => placement.state === "wanted").map(({ status }) => status);
  return present({
    key,
    condition: conditionOf(record, wanted),
    message: messageOf(record, wanted),
    revision: record.desired?.revision ?? record.revision,
    clusters: parts.map(({ status }) => status).toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1)),
    operation,
    achievedQuorumAvailability: record.summary.achievedQuorumAvailability,
    updatedAt: newest(record, wanted),
  });
}

function clusterStatus(cluster: ClusterName, placement: Placement, seen: UnitObservation): ClusterDeploymentStatus {
  const { unit, reachable } = seen;
  return present({
    cluster,
    unitId: placement.unitId,
    reachable,
    condition: unitCondition(placement, seen),
    phase: reachable ? unit?.report.phase : undefined,
    message: unitMessage(placement, seen),
    functions: unit?.report.runtime.status?.functions ?? [],
    error: seen.error ?? placement.fault?.message,
    observedAt: unit && timestamp(unit.observedAtMs),
  });
}

function unitCondition(
  { state, accepted, fault }: Placement,
  { unit, reachable }: UnitObservation,
): DeploymentCondition {
  if (!reachable) return DeploymentCondition.unknown;
  if (state === "withdrawn") return unit?.report.condition ?? DeploymentCondition.deleted;
  if (fault !== undefined) return DeploymentCondition.down;
  if (unit !== undefined) return accepted ? unit.report.condition : DeploymentCondition.deploying;
  return accepted ? DeploymentCondition.down : DeploymentCondition.pending;
}

function unitMessage({ state, accepted, fault }: Placement, { unit, reachable }: UnitObservation): string | undefined {
  if (state === "withdrawn") return reachable ? "it is being removed" : "it is removed when the cluster returns";
  if (state === "leaving")
    return `it is removed when the others are in place${reachable ? "" : " and the cluster returns"}`;
  if (!reachable && unit !== undefined) return `last heard of: ${unit.report.message ?? unit.report.condition}`;
  if (reachable && unit === undefined && accepted) return "it is not there any more and is about to be sent again";
  if (unit !== undefined && !accepted && fault === undefined)
    return `it has not taken what is wanted yet; what it has: ${unit.report.message ?? unit.report.condition}`;
  return unit?.report.message;
}

function conditionOf(record: DeploymentRecord, wanted: readonly ClusterDeploymentStatus[]): DeploymentCondition {
  if (record.deletion !== undefined) return DeploymentCondition.deleted;
  if (record.desired === undefined) return DeploymentCondition.down;
  return worstCondition(wanted.map(({ condition }) => condition));
}

/** In one sentence; nothing when all is well. */
function messageOf(record: DeploymentRecord, wanted: readonly ClusterDeploymentStatus[]): string | undefined {
  if (record.deletion !== undefined)
    return `it is being deleted, as ${record.deletion.by} asked at ${record.deletion.at}`;
  const running = wanted.filter(({ condition }) => condition === DeploymentCondition.running);
  if (wanted.length > 0 && running.length === wanted.length) return undefined;
  const others = wanted
    .filter(({ condition }) => condition !== DeploymentCondition.running)
    .map(({ cluster, condition, error, message }) => `${cluster}: ${withoutStop(error ?? message ?? condition)}`);
  if (others.length === 0) return record.summary.lastError;
  return `${running.length} of ${wanted.length} clusters run it; ${others.join("; ")}`;
}

/** A sentence that goes on. */
function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function newest({ updatedAt }: DeploymentRecord, wanted: readonly ClusterDeploymentStatus[]): string {
  return [updatedAt, ...wanted.map(({ observedAt = "" }) => observedAt)].reduce((a, b) => (a > b ? a : b));
}
