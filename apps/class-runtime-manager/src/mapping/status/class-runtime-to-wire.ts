import { create } from "@bufbuild/protobuf";
import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import {
  ClassRuntimeStatusSchema,
  ClassRuntimeSummarySchema,
  conditionWords,
  GetDeploymentStatusResponseSchema,
  lifecyclePhaseWords,
  phaseWords,
  ResourceReferenceSchema,
  StatusCode,
  type ClassRuntimeStatus as WireStatus,
  type ClassRuntimeSummary,
  type GetDeploymentStatusResponse,
  type ResourceReference,
} from "@oaas/contracts/grpc";
import { conditionBeforeDegraded, conditionOfPhase, type LifecyclePhase, type RuntimePhase } from "@oaas/models";
import { classParts, classRuntimeToUnit } from "../unit/class-runtime-to-unit.ts";
import { correlationIdOf, deploymentIdOf } from "../object-identity.ts";
import { omitUndefined } from "../omit-empty.ts";
import { appliedToWire, nfrComplianceToWire, recommendationToWire } from "./nfr-to-wire.ts";
import { conditionToWire, driftToWire, functionStatusToWire, odgmStatusToWire } from "./status-parts-to-wire.ts";

/** The summary of an object, for lists and watches. */
export function classRuntimeToSummary(object: ClassRuntime): ClassRuntimeSummary {
  const { metadata, spec, status } = object;
  const { origin = {} } = spec;
  const { packageName } = classParts(spec.package_class_key ?? "");
  const id = deploymentIdOf(object);
  const createdAt = metadata.creationTimestamp ?? origin.created_at ?? "";
  const { namespace = "" } = metadata;
  return create(
    ClassRuntimeSummarySchema,
    omitUndefined({
      id,
      deploymentUnitId: id,
      packageName,
      classKey: spec.package_class_key ?? "",
      // Peers identify a class runtime manager by its namespace and replace it with the cluster name they know.
      targetEnvironment: namespace,
      clusterName: namespace,
      status: statusToWire(object),
      nfrCompliance: status?.nfr_compliance === undefined ? undefined : nfrComplianceToWire(status.nfr_compliance),
      resourceRefs: resourceRefsOf(object),
      createdAt,
      updatedAt: status?.last_updated ?? createdAt,
      partitionCount: partitionCountOf(object),
      namespace,
      name: metadata.name,
      generation: BigInt(metadata.generation ?? 0),
      revision: origin.revision === undefined ? undefined : BigInt(origin.revision),
      digest: origin.digest,
      deploymentKey: origin.deployment_key,
      managedBy: origin.managed_by,
      correlationId: correlationIdOf(object),
    }),
  );
}

/** The response of GetDeploymentStatus. */
export function classRuntimeToStatusReply(object: ClassRuntime): GetDeploymentStatusResponse {
  return create(GetDeploymentStatusResponseSchema, {
    status: StatusCode.OK,
    deployment: classRuntimeToUnit(object),
    message: summaryText(object),
    statusResourceRefs: resourceRefsOf(object),
    classRuntime: classRuntimeToSummary(object),
  });
}

const PHASE_TEXT = {
  pending: "Pending",
  applying: "Applying",
  progressing: "Progressing",
  available: "Available",
  degraded: "Degraded",
  deleting: "Deleting",
} as const satisfies Record<LifecyclePhase, string>;

/** One line: "Available", or "Degraded (ImagePull): …". */
export function summaryText(object: ClassRuntime): string {
  const { reason = "", message = "" } = object.status ?? {};
  const word = PHASE_TEXT[phaseOf(object)];
  if (word === "Available") return word;
  const reasonText = reason === "" ? "" : ` (${reason})`;
  return message === "" ? `${word}${reasonText}` : `${word}${reasonText}: ${message}`;
}

/**
 * The lifecycle phase. A deletion is reported before the status is written. A verdict on an earlier generation does not
 * count.
 */
export function phaseOf({ metadata, status }: ClassRuntime): LifecyclePhase {
  if (metadata.deletionTimestamp !== undefined) return "deleting";
  const phase = status?.phase ?? "pending";
  const isVerdict = phase === "available" || phase === "degraded";
  return isVerdict && !isCurrent(metadata.generation ?? 0, status ?? {}) ? "progressing" : phase;
}

/** Conditions have their own observed generation: they may be current although the reconcile failed. */
function isCurrent(generation: number, status: ClassRuntimeStatus): boolean {
  const seen = [
    status.observedGeneration ?? status.observed_generation,
    ...(status.conditions ?? []).map(({ observedGeneration }) => observedGeneration),
  ].filter((one) => one !== undefined);
  return seen.length === 0 || Math.max(...seen) >= generation;
}

/** Whether the object has a lifecycle phase or condition, case-insensitive. */
export function isInState(object: ClassRuntime, state: string): boolean {
  const word = state.toLowerCase();
  const phase = phaseOf(object);
  const condition = conditionOfPhase(phase, isServing(object));
  return word === phase || word === condition || word === conditionBeforeDegraded(condition);
}

/** Whether every component answers requests, possibly with an earlier revision: the condition Available. */
export function isServing({ metadata, status }: ClassRuntime): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return (status?.conditions ?? []).some(({ type, status: value }) => type === "Available" && value === "True");
}

/** Whether every ready replica runs the spec of the object. A component without replica counts must be ready. */
function isUpToDate({ metadata, status = {} }: ClassRuntime): boolean {
  if (!isCurrent(metadata.generation ?? 0, status)) return false;
  const { functions = [], odgm_cluster_status: odgm } = status;
  return [...functions, ...(odgm === undefined ? [] : [odgm])].every(
    ({ ready, ready_replicas: all, updated_replicas: updated }) =>
      ready === true || (updated !== undefined && updated > 0 && updated === all),
  );
}

/** The deployment phase for older peers, by condition. */
const LEGACY_PHASES = {
  pending: "resource-provisioning",
  deploying: "resource-provisioning",
  running: "running",
  down: "failed",
  deleted: "resource-provisioning",
  unknown: "unknown",
} as const satisfies Record<ReturnType<typeof conditionBeforeDegraded>, RuntimePhase>;

function statusToWire(object: ClassRuntime): WireStatus {
  const { metadata, status = {} } = object;
  const lifecycle = phaseOf(object);
  const serving = isServing(object);
  const condition = conditionBeforeDegraded(conditionOfPhase(lifecycle, serving));
  const seen = status.observedGeneration ?? status.observed_generation;
  return create(
    ClassRuntimeStatusSchema,
    omitUndefined({
      condition: conditionWords.toWire(condition),
      phase: phaseWords.toWire(LEGACY_PHASES[condition]),
      message: summaryText(object),
      lastUpdated: status.last_updated ?? metadata.creationTimestamp ?? "",
      functions: (status.functions ?? []).map(functionStatusToWire),
      conditions: (status.conditions ?? []).map(conditionToWire),
      observedGeneration: seen === undefined ? undefined : BigInt(seen),
      lifecyclePhase: lifecyclePhaseWords.toWire(lifecycle),
      nfrRecommendations: (status.nfr_recommendations ?? []).map(recommendationToWire),
      lastAppliedRecommendations: (status.last_applied_recommendations ?? []).map(appliedToWire),
      lastAppliedAt: status.last_applied_at,
      odgm: status.odgm_cluster_status === undefined ? undefined : odgmStatusToWire(status.odgm_cluster_status),
      routers: status.routers ?? [],
      reason: status.reason ?? "",
      template: status.template?.name,
      driftCorrections: (status.drift_corrections ?? []).map(driftToWire),
      serving,
      upToDate: serving && isUpToDate(object),
    }),
  );
}

function resourceRefsOf({ metadata, status }: ClassRuntime): ResourceReference[] {
  return (status?.resource_refs ?? []).map(({ apiVersion, kind, name, namespace = metadata.namespace, uid }) =>
    create(ResourceReferenceSchema, omitUndefined({ apiVersion, kind, name, namespace, uid })),
  );
}

/** The stated partition count, else the one in the status. */
function partitionCountOf({ spec, status }: ClassRuntime): number {
  const derived = status?.odgm_cluster_status?.collections_status?.[0]?.partition_count;
  return Math.max(1, spec.odgm_config?.partition_count ?? derived ?? 1);
}
