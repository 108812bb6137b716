import { CLUSTER_NAME, type ClusterName } from "@oaas/models";
import { z } from "zod";
import { explained, input, listOf, mapOf, optional, share, textOf, view, whole } from "../fields.ts";
import { classDeploymentInput } from "./class-deployment.ts";
import { ODGM_SPEC, odgmSpecView } from "./odgm-spec.ts";

/** What should be assumed about the world when planning. */
export const whatIfInput = input(
  {
    clusters_down: listOf(textOf<ClusterName>(CLUSTER_NAME)),
    availability: optional(share()),
    cluster_availability: mapOf(share(), CLUSTER_NAME),
    package_revision: optional(whole({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  },
  {
    clusters_down: "Clusters that cannot be read.",
    availability: "The target, in place of the deployment's own.",
    cluster_availability: "How much of the time a cluster is up, by cluster, in place of its reading.",
    package_revision: "The revision of the package, in place of the current one.",
  },
);

/** What may be asked of the planner: a deployment, and what should be assumed about the world. */
export const planRequestInput = input(
  { deployment: z.nonoptional(classDeploymentInput), what_if: optional(whatIfInput) },
  { deployment: "The wish to plan.", what_if: "A world to assume in place of the real one." },
);

/** One step of a decision: the rule, what it was given, what it gave, and what would change it. */
export const decisionView = view(
  {
    rule: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    outcome: z.string(),
    would_change: z.string().nullable(),
  },
  {
    rule: "The rule that decided.",
    inputs: "What it was given, by name.",
    outcome: "What it gave.",
    would_change: "What would change the outcome; null when nothing in the wish or the world does.",
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
    cluster: "The cluster's name.",
    chosen: "Whether the deployment would run there.",
    availability: "How much of the time it is up; null when nobody knows.",
    health_age_ms: "How old its reading is; null when there is none.",
    reasons_for: "What speaks for it.",
    reasons_against: "What speaks against it.",
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
    function_key: "Which function.",
    min_scale: "Least replicas in this cluster.",
    max_scale: "Most replicas in this cluster; null without a bound.",
    reason: "Why so many.",
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
    unit_id: "The unit's id, made of the deployment's key and the cluster's name.",
    cluster: "The cluster that gets it.",
    template: "The template that `env_templates` orders; null leaves the choice to the cluster's manager.",
    functions: "How each function is scaled there.",
  },
);

export const shardAssignmentView = view(
  {
    primary: z.int(),
    replica: z.array(z.int()).readonly(),
    shard_ids: z.array(z.int()).readonly(),
  },
  {
    primary: "The shard that leads the partition: the first of `shard_ids`.",
    replica: "The nodes that have a copy of it.",
    shard_ids: "The shard on each of these nodes, in the same order.",
  },
);

/** The data grid with the place of every partition, by collection. */
export const plannedOdgmView = explained(
  odgmSpecView.extend({
    collection_assignments: z.record(z.string(), z.array(shardAssignmentView).readonly()).readonly(),
  }),
  { ...ODGM_SPEC, collection_assignments: "Where each partition lies, by collection." },
);

/** What would be done, with every id fixed and every choice explained. The digest stands for exactly this plan. */
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
    digest: "Stands for exactly what would be done; `plan_digest` of a deployment.",
    deployment_key: "The key of the deployment.",
    package_name: "The package of the class.",
    class_key: "The class to run.",
    package_revision: "The revision of the package that was planned with.",
    algorithm: "How availability is counted (`PLANNER_ALGORITHM`).",
    target_availability: "What was asked for; 0.99 when nothing was.",
    achieved_availability: "What the replicas reach.",
    best_effort: "The target is out of reach and the best was asked for.",
    replicas: "How many replicas over all clusters.",
    clusters: "Every cluster, with what speaks for and against it.",
    units: "What each chosen cluster gets.",
    odgm: "Nodes and shards of the state store; null for a class without state.",
    decisions: "Rule by rule: what went in, what came out, what would change it.",
    explanation: "The same to read.",
  },
);
