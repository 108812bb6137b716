import {
  functionStatusToWire,
  pascalCase,
  type deploymentStatusView,
  type explanationView,
  type unitStatusView,
} from "@oaas/contracts/rest";
import type { ClassRuntime } from "@oaas/models";
import type { z } from "zod";
import type { ClusterDeploymentStatus, DeploymentStatus, Explanation } from "../../use-cases.ts";

/** The state of a deployment over all its clusters. */
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

/** The state of one unit by its id. */
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
  const { key, summary, verdict, suggestedAction, clusters, observedAt } = explanation;
  return {
    key,
    summary,
    verdict,
    suggested_action: suggestedAction,
    clusters: clusters.map(({ cluster, unitId, finding, error }) => ({
      cluster,
      unit_id: unitId,
      finding: finding ?? null,
      error: error ?? null,
    })),
    observed_at: observedAt,
  };
}
