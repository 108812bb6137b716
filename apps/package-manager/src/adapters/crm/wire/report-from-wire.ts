import {
  conditionWords,
  lifecyclePhaseWords,
  phaseWords,
  type ClassRuntimeStatus as WireStatus,
  type ClassRuntimeSummary,
  type FunctionStatus as WireFunctionStatus,
  type NfrCompliance as WireCompliance,
} from "@oaas/contracts/grpc";
import { present } from "@oaas/contracts/rest";
import type {
  ClassRuntime,
  ClassRuntimeStatus,
  ClusterName,
  FunctionKey,
  FunctionStatus,
  NfrCompliance,
  UnitId,
} from "@oaas/models";
import type { UnitReport } from "../../../ports.ts";

/** What a cluster says about a unit; the Rust manager leaves out everything beyond field 12, and then so does the report. */
export function reportFromWire(cluster: ClusterName, summary: ClassRuntimeSummary): UnitReport {
  const runtime = runtimeFromWire(cluster, summary);
  const { status } = summary;
  return present({
    unitId: runtime.unitId,
    runtime,
    condition: runtime.status?.condition ?? "unknown",
    phase: status && lifecyclePhaseWords.fromWire(status.lifecyclePhase),
    message: runtime.status?.message,
    digest: given(summary.digest),
    revision: summary.revision === undefined ? undefined : Number(summary.revision),
    // None has not been counted.
    generation: Number(summary.generation ?? 0n) || undefined,
    managedBy: given(summary.managedBy),
    deploymentKey: given(summary.deploymentKey),
    recommendedReplicas: status && replicasFrom(status),
  });
}

function replicasFrom({ nfrRecommendations }: WireStatus): Readonly<Record<string, number>> | undefined {
  const replicas = nfrRecommendations
    .filter(({ dimension, target }) => dimension === "replicas" && Number.isFinite(target) && target >= 0)
    .map(({ component, target }) => [component, Math.ceil(target)] as const);
  return replicas.length === 0 ? undefined : Object.fromEntries(replicas);
}

/** The class runtime under the name PM knows the cluster by; the manager itself says its namespace there. */
function runtimeFromWire(cluster: ClusterName, summary: ClassRuntimeSummary): ClassRuntime {
  const id = (summary.deploymentUnitId === "" ? summary.id : summary.deploymentUnitId) as UnitId;
  return present({
    id: summary.id === "" ? id : (summary.id as UnitId),
    unitId: id,
    packageName: summary.packageName,
    classKey: summary.classKey,
    targetEnvironment: summary.targetEnvironment,
    cluster,
    status: summary.status && statusFromWire(summary.status),
    nfrCompliance: summary.nfrCompliance && complianceFromWire(summary.nfrCompliance),
    resourceRefs: summary.resourceRefs.map(({ kind, name, namespace, uid }) =>
      present({ kind, name, namespace: given(namespace), uid: given(uid) }),
    ),
    createdAt: summary.createdAt,
    updatedAt: summary.updatedAt,
    partitionCount: Math.max(1, summary.partitionCount),
  });
}

function statusFromWire(status: WireStatus): ClassRuntimeStatus {
  return present({
    condition: conditionWords.fromWire(status.condition) ?? "unknown",
    phase: phaseWords.fromWire(status.phase) ?? "unknown",
    message: given(status.message),
    lastUpdated: status.lastUpdated,
    functions: status.functions.map(functionFromWire),
  });
}

function functionFromWire(status: WireFunctionStatus): FunctionStatus {
  return present({
    functionKey: status.functionKey as FunctionKey,
    service: status.service,
    port: status.port,
    predictedUrl: status.predictedUrl,
    observedUrl: given(status.observedUrl),
    template: status.template,
    ready: status.ready,
    reason: given(status.reason),
    message: given(status.message),
    lastTransitionTime: given(status.lastTransitionTime),
  });
}

function complianceFromWire(compliance: WireCompliance): NfrCompliance {
  return present({
    overall: compliance.overallStatus,
    throughput: given(compliance.throughputStatus),
    latency: given(compliance.latencyStatus),
    availability: given(compliance.availabilityStatus),
    lastChecked: compliance.lastChecked,
  });
}

/** On the wire an empty text is none. */
function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
