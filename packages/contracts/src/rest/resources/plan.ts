import { CLUSTER_NAME, type ClusterName } from "@oaas/models";
import { z } from "zod";
import { listOf, mapOf, object, optional, share, textOf, view, whole } from "../fields.ts";
import { classDeploymentInput } from "./class-deployment.ts";
import { odgmSpecView } from "./odgm-spec.ts";

/** What may be asked of the planner: a deployment, and what should be assumed about the world. */
export const planRequestInput = object({
  deployment: z.nonoptional(classDeploymentInput),
  what_if: optional(
    object({
      clusters_down: listOf(textOf<ClusterName>(CLUSTER_NAME)),
      availability: optional(share()),
      cluster_availability: mapOf(share(), CLUSTER_NAME),
      package_revision: optional(whole({ min: 1, max: Number.MAX_SAFE_INTEGER })),
    }),
  ),
});

/** One step of a decision: the rule, what it was given, what it gave, and what would change it. */
const decisionView = view({
  rule: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  outcome: z.string(),
  would_change: z.string().nullable(),
});

const candidateView = view({
  cluster: z.string(),
  chosen: z.boolean(),
  availability: z.number().nullable(),
  health_age_ms: z.number().nullable(),
  reasons_for: z.array(z.string()),
  reasons_against: z.array(z.string()),
});

const plannedFunctionView = view({
  function_key: z.string(),
  min_scale: z.int(),
  max_scale: z.int().nullable(),
  reason: z.string(),
});

const plannedUnitView = view({
  unit_id: z.string(),
  cluster: z.string(),
  template: z.string().nullable(),
  functions: z.array(plannedFunctionView),
});

const shardAssignmentView = view({
  primary: z.int(),
  replica: z.array(z.int()).readonly(),
  shard_ids: z.array(z.int()).readonly(),
});

/** The data grid with the place of every partition, by collection. */
const plannedOdgmView = odgmSpecView.extend({
  collection_assignments: z.record(z.string(), z.array(shardAssignmentView).readonly()).readonly(),
});

/** What would be done, with every id fixed and every choice explained. The digest stands for exactly this plan. */
export const planView = view({
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
});
