import {
  activeFreeze,
  availabilityEstimateToWire,
  clusterLossToWire,
  deploymentPause,
  plannedAvailabilityToWire,
  planPriceToWire,
  statedRequirementToWire,
  type planView,
} from "@oaas/contracts/rest";
import type { ActiveFreeze, ClusterLoss, DeploymentPause, StatedRequirement } from "@oaas/models";
import type { z } from "zod";
import type { ClusterVerdict, CompletePlan, Decision, PlannedOdgm, PlannedUnit } from "../plan-types.ts";
import type { PlanDifference } from "./compare-plans.ts";
import type { ClusterObjects } from "./plan-objects.ts";
import { planObjectsToWire } from "./plan-objects-view.ts";
import { formatShare, pluralize } from "./format.ts";
import { statedRequirements, useSummary } from "./requirements.ts";

/** A plan, its differences to the running deployment, and what an assumed loss of clusters does. */
interface PlanOutcome {
  readonly plan: CompletePlan;
  readonly changes: readonly PlanDifference[] | undefined;
  readonly loss: ClusterLoss | undefined;
  readonly objects?: readonly ClusterObjects[];
  readonly pause?: DeploymentPause | undefined;
  readonly freezes?: readonly ActiveFreeze[];
}

/** A plan in the JSON of the REST API. */
export function planToWire({
  plan,
  changes,
  loss,
  objects,
  pause,
  freezes = [],
}: PlanOutcome): z.output<typeof planView> {
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
    planned_availability: plannedAvailabilityToWire(plan.availability),
    requirements: statedRequirements(plan).map(statedRequirementToWire),
    state_loss: plan.stateLoss ?? null,
    best_effort: plan.bestEffort,
    replicas: plan.replicas,
    clusters: plan.clusters.map(verdictToWire),
    units: plan.units.map(unitToWire),
    odgm: odgm === undefined ? null : odgmToWire(odgm),
    price: planPriceToWire(plan.price),
    changes: changes ?? null,
    cluster_loss: loss === undefined ? null : clusterLossToWire(loss),
    ...(pause === undefined ? {} : { pause: deploymentPause.toJson(pause) }),
    ...(freezes.length === 0 ? {} : { freezes: freezes.map((each) => activeFreeze.toJson(each)) }),
    decisions: plan.decisions.map(decisionToWire),
    explanation: planText(plan),
    ...(objects === undefined ? {} : { objects: planObjectsToWire(objects) }),
  };
}

export function verdictToWire({
  cluster,
  chosen,
  availability,
  estimate,
  readingAgeMs,
  reasonsFor,
  reasonsAgainst,
}: ClusterVerdict) {
  return {
    cluster,
    chosen,
    availability: availability ?? null,
    ...(estimate === undefined ? {} : { availability_estimate: availabilityEstimateToWire(estimate) }),
    health_age_ms: readingAgeMs ?? null,
    reasons_for: reasonsFor.map(({ text }) => text),
    reasons_against: reasonsAgainst.map(({ text }) => text),
  };
}

function unitToWire({ unitId, cluster, namespace, namespaceOrigin, template, functions }: PlannedUnit) {
  return {
    unit_id: unitId,
    cluster,
    namespace: namespaceOrigin === undefined ? null : { name: namespace ?? null, origin: namespaceOrigin },
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

/** Explains a plan in text: content, reasons per cluster, and decisions. */
export function planText(plan: CompletePlan): string {
  const { shared, sizing, units, replicas, availability } = plan;
  const effort = plan.bestEffort ? ", accepted as best effort" : "";
  return [
    ...(plan.stateLoss === undefined ? [] : [`Warning: ${plan.stateLoss}`]),
    `${shared.deploymentKey}: class ${shared.packageName}.${shared.classKey} (package revision ${shared.packageRevision}), ` +
      `${pluralize(replicas, "replica")} in ${pluralize(units.length, "cluster")}.`,
    `Planned availability: ${formatShare(availability.independentReplicas)} if replicas fail independently ` +
      `(${sizing.algorithm}), at most ${formatShare(availability.clusterBound)} if clusters fail as a whole; ` +
      `target ${formatShare(sizing.target)}${effort}.`,
    ...(availability.warning === undefined ? [] : [`Warning: ${availability.warning}`]),
    ...statedRequirements(plan).map(requirementLine),
    "Clusters:",
    ...plan.clusters.map(clusterLine),
    "Decisions:",
    ...plan.decisions.flatMap(({ rule, outcome, wouldChange }, index) => [
      `  ${index + 1}. ${rule}`,
      `     outcome: ${outcome}`,
      ...(wouldChange === undefined ? [] : [`     would change with: ${wouldChange}`]),
    ]),
  ].join("\n");
}

function requirementLine(stated: StatedRequirement): string {
  const of = stated.component === "" ? "" : ` of ${stated.component}`;
  return `Requirement: ${stated.text}${of}: ${useSummary(stated)}, ${stated.useText}.`;
}

function clusterLine({ cluster, chosen, reasonsFor, reasonsAgainst }: ClusterVerdict): string {
  const reasons = [...reasonsFor.map(({ text }) => `+ ${text}`), ...reasonsAgainst.map(({ text }) => `- ${text}`)].join(
    "; ",
  );
  return `  [${chosen ? "x" : " "}] ${cluster}: ${reasons}`;
}
