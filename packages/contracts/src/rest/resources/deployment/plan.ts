import { CLUSTER_NAME, type ClusterName } from "@oaas/models";
import { z } from "zod";
import {
  input,
  listOf,
  mapOf,
  optional,
  readFraction,
  readRuledText,
  view,
  readInteger,
} from "../../reading/fields.ts";
import { classDeploymentInput } from "./class-deployment.ts";
import { odgmSpec } from "./odgm-spec.ts";

/** Assumptions that replace observed facts during planning. */
export const whatIfInput = input(
  {
    clusters_down: listOf(readRuledText<ClusterName>(CLUSTER_NAME)),
    availability: optional(readFraction()),
    cluster_availability: mapOf(readFraction(), CLUSTER_NAME),
    package_revision: optional(readInteger({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  },
  {
    clusters_down: "Clusters to treat as unreachable.",
    availability: "Availability target that replaces the deployment's.",
    cluster_availability: "Availability by cluster, replacing the observed value.",
    package_revision: "Package revision to plan with instead of the current one.",
  },
);

/** A deployment to plan, with optional assumptions. */
export const planRequestInput = input(
  { deployment: z.nonoptional(classDeploymentInput), what_if: optional(whatIfInput) },
  { deployment: "Deployment to plan.", what_if: "Assumptions that replace observed facts." },
);

/** One planning decision: rule, inputs, outcome and what would change it. */
export const decisionView = view(
  {
    rule: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    outcome: z.string(),
    would_change: z.string().nullable(),
  },
  {
    rule: "Rule that made the decision.",
    inputs: "Inputs of the rule, by name.",
    outcome: "Outcome of the rule.",
    would_change: "Change that would lead to another outcome; null if none would.",
  },
);

export const candidateView = view(
  {
    cluster: z.string(),
    chosen: z.boolean(),
    availability: z.number().nullable(),
    health_age_ms: z.number().nullable(),
    reasons_for: z.array(z.string()),
    reasons_against: z.array(z.string()),
  },
  {
    cluster: "Cluster name.",
    chosen: "Whether the planner selected the cluster.",
    availability: "Availability of the cluster; null when unknown.",
    health_age_ms: "Age of its health report in milliseconds; null if none.",
    reasons_for: "Reasons for selecting it.",
    reasons_against: "Reasons against selecting it.",
  },
);

export const plannedFunctionView = view(
  {
    function_key: z.string(),
    min_scale: z.int(),
    max_scale: z.int().nullable(),
    reason: z.string(),
  },
  {
    function_key: "Function key.",
    min_scale: "Minimum replicas in this cluster.",
    max_scale: "Maximum replicas in this cluster; null if unbounded.",
    reason: "Reason for the number of replicas.",
  },
);

export const plannedUnitView = view(
  {
    unit_id: z.string(),
    cluster: z.string(),
    template: z.string().nullable(),
    functions: z.array(plannedFunctionView),
  },
  {
    unit_id: "Unit id, derived from the deployment key and the cluster name.",
    cluster: "Cluster of the unit.",
    template: "Template from `env_templates`; null lets the class runtime manager choose.",
    functions: "Scale of each function.",
  },
);

export const shardAssignmentView = view(
  {
    primary: z.int(),
    replica: z.array(z.int()).readonly(),
    shard_ids: z.array(z.int()).readonly(),
  },
  {
    primary: "Primary shard of the partition: the first of `shard_ids`.",
    replica: "Node ids of the replicas.",
    shard_ids: "Shard id on each of these nodes, in the same order.",
  },
);

/** The state store with the placement of every partition. */
export const plannedOdgmView = view(
  {
    ...odgmSpec.viewShape,
    collection_assignments: z.record(z.string(), z.array(shardAssignmentView).readonly()).readonly(),
  },
  {
    ...(odgmSpec.descriptions as Record<keyof typeof odgmSpec.viewShape, string>),
    collection_assignments: "Placement of each partition, by collection.",
  },
);

/** The units a deployment would create, with every id fixed and every decision explained. */
export const planView = view(
  {
    digest: z.string(),
    deployment_key: z.string(),
    package_name: z.string(),
    class_key: z.string(),
    package_revision: z.int(),
    algorithm: z.enum(["quorum", "independent"]),
    target_availability: z.number(),
    achieved_availability: z.number(),
    best_effort: z.boolean(),
    replicas: z.int(),
    clusters: z.array(candidateView),
    units: z.array(plannedUnitView),
    odgm: plannedOdgmView.nullable(),
    decisions: z.array(decisionView),
    explanation: z.string(),
  },
  {
    digest: "Digest of the plan; pass it as `plan_digest` of a deployment.",
    deployment_key: "Deployment key.",
    package_name: "Package name.",
    class_key: "Class key.",
    package_revision: "Package revision used for planning.",
    algorithm: "How availability is computed (`PLANNER_ALGORITHM`).",
    target_availability: "Requested availability. Default: 0.99.",
    achieved_availability: "Availability of the plan.",
    best_effort: "Whether the target was out of reach and the best reachable plan was requested.",
    replicas: "Replicas across all clusters.",
    clusters: "Every candidate cluster with the reasons for and against it.",
    units: "Units by selected cluster.",
    odgm: "Nodes and shards of the state store; null for a stateless class.",
    decisions: "Decisions in order: rule, inputs, outcome and what would change it.",
    explanation: "Human-readable explanation of the plan.",
  },
);
