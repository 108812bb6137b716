import {
  ClassRuntimeEventType as EventType,
  conditionWords,
  lifecyclePhaseWords,
  phaseWords,
  type ClassRuntimeStatus as WireStatus,
  type ClassRuntimeSummary,
  type DriftCorrection as WireDriftCorrection,
  type FunctionStatus as WireFunctionStatus,
  type WatchClassRuntimesResponse,
} from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import {
  conditionOfPhase,
  conditionWithState,
  driftSummary,
  stateProblem,
  type ClassRuntime,
  type ClassRuntimeStatus,
  type ClusterName,
  type DeploymentCondition,
  type DriftCorrection,
  type FunctionKey,
  type FunctionStatus,
  type UnitId,
} from "@oaas/models";
import type { RuntimeChange, UnitReport } from "../../../ports.ts";
import { complianceFromWire, recommendationsFromWire } from "./nfr-from-wire.ts";
import { nonEmpty } from "./non-empty.ts";
import { stateStoreFromWire } from "./state-store-from-wire.ts";

/** The report of a cluster about a unit. The Rust manager sets only fields up to 12. */
export function reportFromWire(cluster: ClusterName, summary: ClassRuntimeSummary): UnitReport {
  const runtime = runtimeFromWire(cluster, summary);
  const { status } = summary;
  return omitUndefined({
    unitId: runtime.unitId,
    namespace: nonEmpty(summary.namespace),
    runtime,
    condition: runtime.status?.condition ?? "unknown",
    phase: status && lifecyclePhaseWords.fromWire(status.lifecyclePhase),
    message: runtime.status?.message,
    digest: nonEmpty(summary.digest),
    revision: summary.revision === undefined ? undefined : Number(summary.revision),
    // 0 means that the peer does not count.
    generation: Number(summary.generation ?? 0n) || undefined,
    notObserved: status && notObserved(status),
    managedBy: nonEmpty(summary.managedBy),
    deploymentKey: nonEmpty(summary.deploymentKey),
  });
}

/** The message of the condition NfrObserved unless it is true. */
function notObserved({ conditions }: WireStatus): string | undefined {
  const condition = conditions.find(({ type }) => type === "NfrObserved");
  if (condition === undefined || condition.status === "True") return undefined;
  return nonEmpty(condition.message) ?? nonEmpty(condition.reason);
}

/** The class runtime with the registered name of the cluster; the manager itself reports its namespace. */
function runtimeFromWire(cluster: ClusterName, summary: ClassRuntimeSummary): ClassRuntime {
  const id = (summary.deploymentUnitId === "" ? summary.id : summary.deploymentUnitId) as UnitId;
  return omitUndefined({
    id: summary.id === "" ? id : (summary.id as UnitId),
    unitId: id,
    packageName: summary.packageName,
    classKey: summary.classKey,
    targetEnvironment: summary.targetEnvironment,
    cluster,
    status: summary.status && statusFromWire(summary.status),
    nfrCompliance: summary.nfrCompliance && complianceFromWire(summary.nfrCompliance),
    resourceRefs: summary.resourceRefs.map(({ kind, name, namespace, uid, apiVersion }) =>
      omitUndefined({
        kind,
        name,
        namespace: nonEmpty(namespace),
        uid: nonEmpty(uid),
        apiVersion: nonEmpty(apiVersion),
      }),
    ),
    deploymentKey: nonEmpty(summary.deploymentKey),
    createdAt: summary.createdAt,
    updatedAt: summary.updatedAt,
    partitionCount: Math.max(1, summary.partitionCount),
  });
}

function statusFromWire(status: WireStatus): ClassRuntimeStatus {
  const stateStore = status.odgm && stateStoreFromWire(status.odgm);
  const reported = conditionFromWire(status);
  const condition = conditionWithState(reported, stateStore);
  // The manager names its own problem; that of the state store counts where it reports none.
  const problem = condition === reported ? undefined : stateStore && stateProblem(stateStore);
  return omitUndefined({
    condition,
    serving: isServing(status),
    upToDate: status.upToDate ?? condition === "running",
    phase: phaseWords.fromWire(status.phase) ?? "unknown",
    message: problem ?? nonEmpty(status.message),
    lastUpdated: status.lastUpdated,
    functions: status.functions.map(functionFromWire),
    stateStore,
    recommendations: recommendationsFromWire(status.nfrRecommendations),
    lastApplied: recommendationsFromWire(status.lastAppliedRecommendations),
    lastAppliedAt: nonEmpty(status.lastAppliedAt),
    driftCorrections: status.driftCorrections.length === 0 ? undefined : status.driftCorrections.map(driftFromWire),
  });
}

function driftFromWire(one: WireDriftCorrection): DriftCorrection {
  const correction = omitUndefined({
    kind: one.kind,
    name: one.name,
    fields: one.fields.map(({ path, was, now }) => ({ path, was, now })),
    moreFields: one.moreFields === 0 ? undefined : one.moreFields,
    changedBy: nonEmpty(one.changedBy),
    firstAt: one.firstAt,
    lastAt: one.lastAt,
    durationMs: one.durationMs === undefined ? undefined : Number(one.durationMs),
    count: Math.max(1, one.count),
  });
  return { ...correction, message: driftSummary(correction) };
}

/** Managers of earlier releases report `degraded` without `serving`; the Rust manager reports no lifecycle phase. */
function conditionFromWire(status: WireStatus): DeploymentCondition {
  const condition = conditionWords.fromWire(status.condition) ?? "unknown";
  const phase = lifecyclePhaseWords.fromWire(status.lifecyclePhase);
  return phase === undefined || condition === "deleted" ? condition : conditionOfPhase(phase, isServing(status));
}

function isServing({ serving, condition, conditions }: WireStatus): boolean {
  const isAvailable = conditions.some(({ type, status }) => type === "Available" && status === "True");
  return serving ?? (isAvailable || conditionWords.fromWire(condition) === "running");
}

function functionFromWire(status: WireFunctionStatus): FunctionStatus {
  return omitUndefined({
    functionKey: status.functionKey as FunctionKey,
    service: status.service,
    port: status.port,
    predictedUrl: status.predictedUrl,
    observedUrl: nonEmpty(status.observedUrl),
    template: status.template,
    condition: functionCondition(status),
    ready: status.ready,
    serving: status.serving,
    desiredReplicas: status.desiredReplicas,
    readyReplicas: status.readyReplicas,
    updatedReplicas: status.updatedReplicas,
    reason: nonEmpty(status.reason),
    message: nonEmpty(status.message),
    lastTransitionTime: nonEmpty(status.lastTransitionTime),
  });
}

/** Managers of earlier releases report only whether the function is ready. */
function functionCondition({ lifecyclePhase, serving, ready }: WireFunctionStatus): DeploymentCondition {
  const phase = lifecyclePhaseWords.fromWire(lifecyclePhase);
  if (phase !== undefined) return conditionOfPhase(phase, serving ?? ready ?? false);
  return ready === undefined ? "unknown" : ready ? "running" : "deploying";
}

/** The change that a watch event stands for. Unknown event types of newer peers count as a heartbeat. */
export function runtimeChangeFromWire(
  cluster: ClusterName,
  { type, classRuntime }: WatchClassRuntimesResponse,
): RuntimeChange {
  if (type === EventType.SNAPSHOT_STARTED) return { type: "syncing" };
  if (type === EventType.SNAPSHOT_COMPLETE) return { type: "synced" };
  if (classRuntime === undefined) return { type: "alive" };
  const report = reportFromWire(cluster, classRuntime);
  if (type === EventType.DELETED) {
    const { unitId, namespace } = report;
    return { type: "removed", unitId, ...(namespace === undefined ? {} : { namespace }) };
  }
  const isChange = type === EventType.SNAPSHOT_ITEM || type === EventType.ADDED || type === EventType.MODIFIED;
  return isChange ? { type: "changed", report } : { type: "alive" };
}
