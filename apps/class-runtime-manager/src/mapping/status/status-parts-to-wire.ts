import { create } from "@bufbuild/protobuf";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import {
  DriftCorrectionSchema,
  FunctionStatusSchema,
  lifecyclePhaseWords,
  OdgmStatusSchema,
  type DriftCorrection as WireDriftCorrection,
  type FunctionStatus,
  type OdgmStatus,
} from "@oaas/contracts/grpc";
import type { LifecyclePhase } from "@oaas/models";
import { isFaultText } from "../../lifecycle/observation/reasons.ts";
import { omitUndefined } from "../omit-empty.ts";

type FunctionPart = NonNullable<ClassRuntimeStatus["functions"]>[number];

export function functionStatusToWire(one: FunctionPart): FunctionStatus {
  const { workload } = one;
  return create(
    FunctionStatusSchema,
    omitUndefined({
      functionKey: one.function_key,
      service: one.service,
      port: one.port ?? 0,
      predictedUrl: one.predicted_url,
      observedUrl: one.observed_url,
      template: one.template,
      ready: one.ready,
      reason: one.reason,
      message: one.message,
      lastTransitionTime: one.lastTransitionTime,
      desiredReplicas: one.desired_replicas,
      readyReplicas: one.ready_replicas,
      updatedReplicas: one.updated_replicas,
      serving: one.serving,
      lifecyclePhase: lifecyclePhaseWords.toWire(functionPhase(one)),
      workload:
        workload === undefined
          ? undefined
          : omitUndefined({
              kind: workload.kind,
              name: workload.name,
              namespace: workload.namespace,
              uid: workload.uid,
            }),
    }),
  );
}

/** The phase of a function or of the state store, from its readiness and the reason why it is not ready. */
export function functionPhase({
  ready,
  reason,
}: {
  readonly ready?: boolean | undefined;
  readonly reason?: string | undefined;
}): LifecyclePhase {
  if (ready === undefined) return "pending";
  if (ready) return "available";
  return isFaultText(reason ?? "") ? "degraded" : "progressing";
}

export function odgmStatusToWire(one: NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>): OdgmStatus {
  return create(
    OdgmStatusSchema,
    omitUndefined({
      ready: one.ready ?? false,
      service: one.service ?? "",
      desiredReplicas: one.desired_replicas ?? 0,
      readyReplicas: one.ready_replicas ?? 0,
      shardType: one.shard_type ?? "",
      collections: (one.collections_status ?? []).map((collection) =>
        omitUndefined({
          name: collection.name,
          partitionCount: collection.partition_count ?? 0,
          replicaCount: collection.replica_count ?? 0,
          readyShards: collection.ready_shards ?? 0,
          objectCount: collection.total_objects === undefined ? undefined : BigInt(collection.total_objects),
        }),
      ),
      capabilities: one.capabilities ?? [],
      reason: one.reason ?? "",
      message: one.message ?? "",
      lastChecked: one.last_checked,
      writable: one.writable,
      missingShards: (one.missing_shards ?? []).map(({ node_id: nodeId, collection, partition }) => ({
        nodeId: BigInt(nodeId),
        collection,
        partition,
      })),
      restart:
        one.restart === undefined
          ? undefined
          : {
              state: one.restart.state,
              reason: one.restart.reason,
              message: one.restart.message,
              nodes: (one.restart.nodes ?? []).map(BigInt),
            },
    }),
  );
}

export function conditionToWire(one: NonNullable<ClassRuntimeStatus["conditions"]>[number]) {
  const { type, status, reason = "", message = "", lastTransitionTime = "", observedGeneration: seen } = one;
  return omitUndefined({
    type,
    status,
    reason,
    message,
    lastTransitionTime,
    observedGeneration: seen === undefined ? undefined : BigInt(seen),
  });
}

type DriftCorrection = NonNullable<ClassRuntimeStatus["drift_corrections"]>[number];

export function driftToWire(one: DriftCorrection): WireDriftCorrection {
  return create(
    DriftCorrectionSchema,
    omitUndefined({
      kind: one.kind,
      name: one.name,
      fields: one.fields.map(({ path, was, now }) => ({ path, was, now })),
      moreFields: one.more_fields ?? 0,
      changedBy: one.changed_by,
      firstAt: one.first_at,
      lastAt: one.last_at,
      durationMs: one.duration_ms === undefined ? undefined : BigInt(one.duration_ms),
      count: one.count,
    }),
  );
}
