import {
  classDeploymentToWire,
  functionStatusToWire,
  pascalCase,
  type deploymentRevisionView,
  type deploymentStatusView,
  type diffView,
  type explanationView,
  type revisionView,
  type unitStatusView,
} from "@oaas/contracts/rest";
import { DeploymentCondition, type ClassRuntime } from "@oaas/models";
import type { z } from "zod";
import type {
  ClusterDeploymentStatus,
  DeploymentRevision,
  DeploymentStatus,
  Diff,
  Explanation,
  Revision,
} from "../../use-cases.ts";

/** The status of a deployment in all its clusters. */
export function deploymentStatusToWire(status: DeploymentStatus): z.output<typeof deploymentStatusView> {
  const { operation } = status;
  return {
    key: status.key,
    condition: pascalCase(status.condition),
    message: status.message ?? null,
    revision: status.revision,
    clusters: status.clusters.map(clusterToWire),
    operation: operation ? { ...operation, message: operation.message ?? null } : null,
    achieved_quorum_availability: status.achievedQuorumAvailability ?? null,
    updated_at: status.updatedAt,
  };
}

function clusterToWire(status: ClusterDeploymentStatus): z.output<typeof deploymentStatusView>["clusters"][number] {
  return {
    cluster: status.cluster,
    unit_id: status.unitId,
    reachable: status.reachable,
    condition: pascalCase(status.condition),
    phase: status.phase ?? null,
    message: status.message ?? null,
    functions: status.functions.map(functionStatusToWire),
    error: status.error ?? null,
    observed_at: status.observedAt ?? null,
  };
}

/** The status of one unit. */
export function unitStatusToWire({ id, status, updatedAt }: ClassRuntime): z.output<typeof unitStatusView> {
  return {
    id,
    status: pascalCase(status?.condition ?? "unknown"),
    phase: pascalCase(status?.phase ?? "unknown"),
    message: status?.message ?? null,
    last_updated: status?.lastUpdated ?? updatedAt,
  };
}

/** Why a deployment is not ready. */
export function explanationToWire(explanation: Explanation): z.output<typeof explanationView> {
  const { key, summary, verdict, suggestedAction, observedAt } = explanation;
  const clusters = explanation.clusters.map(({ cluster, unitId, finding = null, error = null }) => {
    return { cluster, unit_id: unitId, finding, error };
  });
  return { key, summary, verdict, suggested_action: suggestedAction, clusters, observed_at: observedAt };
}

/** A revision without its content. */
export function revisionToWire(revision: Revision): z.output<typeof revisionView> {
  const { revision: number, digest, author = null, reason = null, createdAt } = revision;
  return { revision: number, digest, author, reason, created_at: createdAt };
}

/** A revision of a deployment. */
export function deploymentRevisionToWire(revision: DeploymentRevision): z.output<typeof deploymentRevisionView> {
  const { planDigest = null, outcome, clusters } = revision;
  const { deployment: desired } = revision;
  const deployment = classDeploymentToWire({ deployment: desired, condition: DeploymentCondition.unknown });
  return { ...revisionToWire(revision), deployment, plan_digest: planDigest, outcome, clusters };
}

export function diffToWire({ from, to, changes }: Diff): z.output<typeof diffView> {
  return { from, to, changes: changes.map((change) => ({ ...change })) };
}
