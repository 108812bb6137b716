import type { PlanRefusalWire, planView, RemedyWire } from "@oaas/contracts/rest";
import type { z } from "zod";
import { planText } from "./explain.ts";
import type {
  ClusterVerdict,
  Decision,
  DeploymentPlan,
  PlannedOdgm,
  PlannedUnit,
  PlanRefusal,
  Remedy,
} from "../plan-types.ts";

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

/** Why there is no plan, in the contract's JSON. */
export function refusalToWire(refusal: Exclude<PlanRefusal, { kind: "invalid" }>): PlanRefusalWire {
  const found = { reason: refusal.kind, remedies: [], clusters: refusal.clusters.map(verdictToWire) };
  switch (refusal.kind) {
    case "out-of-reach": {
      const { target, best, remedies } = refusal;
      return {
        ...found,
        target_availability: target,
        ...(best === undefined ? {} : { best }),
        remedies: remedies.map(remedyToWire),
      };
    }
    case "throughput-out-of-reach":
      return { ...found, needed_replicas: refusal.neededReplicas, max_replicas: refusal.maxReplicas };
    case "disabled":
    case "no-cluster":
    case "no-usable-cluster":
      return found;
  }
}

function remedyToWire(remedy: Remedy): RemedyWire {
  const { kind, text } = remedy;
  switch (remedy.kind) {
    case "lower-target":
      return { kind, text, targets: remedy.targets };
    case "raise-cap":
      return { kind, text, max_replicas: remedy.maxReplicas };
    case "add-cluster":
      return { kind, text, availability: remedy.availability };
    case "restore-cluster":
      return { kind, text, clusters: [remedy.cluster] };
    case "leave-out":
      return { kind, text, clusters: remedy.clusters };
    case "lower-replica-count":
      return { kind, text, replica_count: remedy.replicaCount };
    case "allow-best-effort":
      return { kind, text };
  }
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
