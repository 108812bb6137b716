import { CLUSTER_NAME, LIST_LIMITS, type ClusterName } from "@oaas/models";
import { z } from "zod";
import { resolvedChangeView } from "../service/revision.ts";
import {
  field,
  input,
  listOf,
  mapOf,
  optional,
  readBoolean,
  readFraction,
  readInteger,
  readRuledText,
  view,
} from "../../reading/fields.ts";
import { availabilityEstimate } from "../cluster/availability.ts";
import { classDeploymentInput } from "./class-deployment.ts";
import { clusterLoss } from "./cluster-loss.ts";
import { activeFreeze } from "../cluster/freeze-window.ts";
import { deploymentPause } from "./deployment-pause.ts";
import { odgmSpec } from "./odgm-spec.ts";
import { planObjectsView } from "./plan-objects.ts";
import { planPrice } from "./plan-price.ts";
import { plannedAvailability } from "./planned-availability.ts";
import { statedRequirement } from "./requirement-status.ts";
import { packageInput } from "../package/package.ts";

/** Assumptions that replace observed facts during planning. */
export const whatIfInput = input({
  clusters_down: field(
    "Clusters to treat as down. The plan has `cluster_loss`: what keeps running, and what does not.",
    listOf(readRuledText<ClusterName>(CLUSTER_NAME), LIST_LIMITS.clusters),
  ),
  availability: field("Availability target that replaces the deployment's.", optional(readFraction())),
  cluster_availability: field(
    "Availability by cluster, replacing the observed value.",
    mapOf(readFraction(), LIST_LIMITS.clusters, CLUSTER_NAME),
  ),
  package_revision: field(
    "Package revision to plan with instead of the current one.",
    optional(readInteger({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  ),
  package: field(
    "Package to plan with instead of the registered one, such as one that is about to be applied. It is not stored.",
    optional(packageInput),
  ),
});

/** A deployment to plan, with optional assumptions. */
export const planRequestInput = input({
  deployment: field("Deployment to plan.", z.nonoptional(classDeploymentInput)),
  what_if: field("Assumptions that replace observed facts.", optional(whatIfInput)),
  objects: field(
    "Also ask each cluster of the plan which objects it would create, change or delete. Default: false.",
    optional(readBoolean()),
  ),
});

/** One planning decision: rule, inputs, outcome and what would change it. */
export const decisionView = view({
  rule: field("Rule that made the decision.", z.string()),
  inputs: field("Inputs of the rule, by name.", z.record(z.string(), z.unknown())),
  outcome: field("Outcome of the rule.", z.string()),
  would_change: field("Change that would lead to another outcome; null if none would.", z.string().nullable()),
});

export const candidateView = view({
  cluster: field("Cluster name.", z.string()),
  chosen: field("Whether the planner selected the cluster.", z.boolean()),
  availability: field("Availability of the cluster; null when unknown.", z.number().nullable()),
  availability_estimate: field(
    "How the availability was computed; absent when it is unknown or assumed by `what_if`.",
    availabilityEstimate.view.optional(),
  ),
  health_age_ms: field("Age of its health report in milliseconds; null if none.", z.number().nullable()),
  reasons_for: field("Reasons for selecting it.", z.array(z.string())),
  reasons_against: field("Reasons against selecting it.", z.array(z.string())),
});

export const plannedFunctionView = view({
  function_key: field("Function key.", z.string()),
  min_scale: field("Minimum replicas in this cluster.", z.int()),
  max_scale: field("Maximum replicas in this cluster; null if unbounded.", z.int().nullable()),
  reason: field("Reason for the number of replicas.", z.string()),
});

export const plannedNamespaceView = view({
  name: field("Namespace; null where the cluster's manager decides and does not report it.", z.string().nullable()),
  origin: field(
    "Source: the `deployment`, its `package`, where the unit is `running` already, the default of the `cluster`'s registration, or that of its `manager`.",
    z.enum(["deployment", "package", "running", "cluster", "manager"]),
  ),
});

export const plannedUnitView = view({
  unit_id: field("Unit id, derived from the deployment key and the cluster name.", z.string()),
  cluster: field("Cluster of the unit.", z.string()),
  namespace: field(
    "Namespace of the unit and the rule that chose it. Null in plans of earlier releases.",
    plannedNamespaceView.nullable(),
  ),
  template: field("Template from `env_templates`; null lets the class runtime manager choose.", z.string().nullable()),
  functions: field("Scale of each function.", z.array(plannedFunctionView)),
});

export const shardAssignmentView = view({
  primary: field("Primary shard of the partition: the first of `shard_ids`.", z.int()),
  replica: field("Node ids of the replicas.", z.array(z.int()).readonly()),
  shard_ids: field("Shard id on each of these nodes, in the same order.", z.array(z.int()).readonly()),
});

/** The state store with the placement of every partition. */
export const plannedOdgmView = view({
  ...odgmSpec.viewFields,
  collection_assignments: field(
    "Placement of each partition, by collection.",
    z.record(z.string(), z.array(shardAssignmentView).readonly()).readonly(),
  ),
});

/** The units a deployment would create, with every id fixed and every decision explained. */
export const planView = view({
  digest: field("Digest of the plan; pass it as `plan_digest` of a deployment.", z.string()),
  deployment_key: field("Deployment key.", z.string()),
  package_name: field("Package name.", z.string()),
  class_key: field("Class key.", z.string()),
  package_revision: field("Package revision used for planning.", z.int()),
  algorithm: field("How availability is computed (`PLANNER_ALGORITHM`).", z.enum(["quorum", "independent", "domains"])),
  target_availability: field("Requested availability. Default: 0.99.", z.number()),
  achieved_availability: field(
    "The planned availability by `algorithm`: `independent_replicas` of `planned_availability`, or `domain_availability` with `domains`. It is not measured.",
    z.number(),
  ),
  planned_availability: field(
    "Availability with independent replicas, and the bound that the clusters set.",
    plannedAvailability.view,
  ),
  requirements: field(
    "Each stated requirement and its use. The status of a deployment shows whether it is measured.",
    z.array(statedRequirement.view).readonly(),
  ),
  state_loss: field(
    "The objects that the plan loses, in one sentence, because the layout of a running state store changes or it restarts; null when it loses none.",
    z.string().nullable(),
  ),
  best_effort: field("Whether the target was out of reach and the best reachable plan was requested.", z.boolean()),
  replicas: field("Replicas across all clusters.", z.int()),
  clusters: field("Every candidate cluster with the reasons for and against it.", z.array(candidateView)),
  units: field("Units by selected cluster.", z.array(plannedUnitView)),
  odgm: field("Nodes and shards of the state store; null for a stateless class.", plannedOdgmView.nullable()),
  price: field("Price per month of the requests, by the prices of the clusters' registrations.", planPrice.view),
  changes: field(
    "Changes to the running deployment, the state store first; null for a new deployment.",
    z.array(resolvedChangeView).readonly().nullable(),
  ),
  cluster_loss: field(
    "What the loss of `what_if.clusters_down` does to the deployment; null without that assumption.",
    clusterLoss.view.nullable(),
  ),
  pause: field(
    "Present while the deployment is paused: the plan cannot be applied before it ends.",
    deploymentPause.view.optional(),
  ),
  freezes: field(
    "Freeze windows that are active for its clusters: the plan cannot be applied before they end. Absent when there are none.",
    z.array(activeFreeze.view).optional(),
  ),
  decisions: field("Decisions in order: rule, inputs, outcome and what would change it.", z.array(decisionView)),
  explanation: field("Human-readable explanation of the plan.", z.string()),
  objects: field(
    "The objects that change in each cluster; absent unless requested. The digest does not depend on them.",
    planObjectsView.optional(),
  ),
});
