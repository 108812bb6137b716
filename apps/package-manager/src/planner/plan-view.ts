import type { planView } from "@oaas/contracts/rest";
import type { z } from "zod";
import { planText } from "./explain.ts";
import type { ClusterVerdict, Decision, DeploymentPlan, PlannedOdgm, PlannedUnit } from "./plan-types.ts";

/** A plan in the contract's JSON. */
export function planToWire(plan: DeploymentPlan): z.output<typeof planView> {
  const { shared, sizing, odgm } = plan;
  return {
    digest: plan.digest,
    deployment_key: shared.deploymentKey,
    package_name: shared.packageName,
    class_key: shared.classKey,
    package_revision: shared.packageRevision,
    algorithm: sizing.algorithm,
    target_availability: sizing.target,
    achieved_availability: plan.achievedAvailability,
    best_effort: plan.bestEffort,
    replicas: plan.replicas,
    clusters: plan.clusters.map(verdictToWire),
    units: plan.units.map(unitToWire),
    odgm: odgm === undefined ? null : odgmToWire(odgm),
    decisions: plan.decisions.map(decisionToWire),
    explanation: planText(plan),
  };
}

function verdictToWire({ cluster, chosen, availability, readingAgeMs, reasonsFor, reasonsAgainst }: ClusterVerdict) {
  return {
    cluster,
    chosen,
    availability: availability ?? null,
    health_age_ms: readingAgeMs ?? null,
    reasons_for: reasonsFor.map(({ text }) => text),
    reasons_against: reasonsAgainst.map(({ text }) => text),
  };
}

function unitToWire({ unitId, cluster, template, functions }: PlannedUnit) {
  return {
    unit_id: unitId,
    cluster,
    template: template ?? null,
    functions: functions.map(({ functionKey, minScale, maxScale, reason }) => ({
      function_key: functionKey,
      min_scale: minScale,
      max_scale: maxScale ?? null,
      reason,
    })),
  };
}

function decisionToWire({ rule, inputs, outcome, wouldChange }: Decision) {
  return { rule, inputs, outcome, would_change: wouldChange ?? null };
}

function odgmToWire({ collections, partitionCount, replicaCount, shardType, log, nodeIds, assignments }: PlannedOdgm) {
  return {
    collections,
    partition_count: partitionCount,
    replica_count: replicaCount,
    ...(shardType === undefined ? {} : { shard_type: shardType }),
    env_node_ids: nodeIds,
    log,
    collection_assignments: Object.fromEntries(
      Object.entries(assignments).map(([name, partitions]) => [
        name,
        partitions.map(({ primary, replica, shardIds }) => ({ primary, replica, shard_ids: shardIds })),
      ]),
    ),
  };
}
