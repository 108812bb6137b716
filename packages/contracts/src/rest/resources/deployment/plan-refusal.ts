import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { resolvedChangeView } from "../service/revision.ts";
import { candidateView } from "./plan.ts";

export const lowerTargetView = view({
  subject: field("`class`, or the key of the function with its own target.", z.string()),
  availability: field("Highest reachable availability.", z.number()),
});

/** One sufficient change; the kind determines the other fields. */
export const remedyView = view({
  kind: field(
    "Kind of change.",
    z.enum([
      "lower-target",
      "raise-cap",
      "add-cluster",
      "restore-cluster",
      "leave-out",
      "lower-replica-count",
      "connect-clusters",
      "allow-best-effort",
    ]),
  ),
  text: field("Human-readable description.", z.string()),
  targets: field("For `lower-target`: every missed target.", z.array(lowerTargetView).readonly().optional()),
  max_replicas: field("For `raise-cap`: the minimum `PLANNER_MAX_REPLICAS`.", z.int().optional()),
  availability: field("For `add-cluster`: the availability the new cluster must have.", z.number().optional()),
  clusters: field(
    "For `restore-cluster`, `leave-out` and `connect-clusters`: the clusters.",
    z.array(z.string()).readonly().optional(),
  ),
  replica_count: field("For `lower-replica-count`: the maximum `odgm.replica_count`.", z.int().optional()),
});

export const bestReachedView = view({
  availability: field("Reachable availability.", z.number()),
  replicas: field("Replicas it requires.", z.int()),
});

/** Why planning failed, for programs; the problem's `detail` has the text. */
export const planRefusalView = view({
  reason: field(
    "Why planning failed.",
    z.enum(["disabled", "no-cluster", "no-usable-cluster", "out-of-reach", "throughput-out-of-reach"]),
  ),
  target_availability: field("For `out-of-reach`: the requested availability.", z.number().optional()),
  best: field(
    "For `out-of-reach`: the best reachable result; absent when no replica count within the cap is allowed.",
    bestReachedView.optional(),
  ),
  remedies: field("Changes that are each sufficient, verified by planning with them.", z.array(remedyView)),
  needed_replicas: field("For `throughput-out-of-reach`: the required replicas.", z.int().optional()),
  max_replicas: field("For `throughput-out-of-reach`: the allowed replicas.", z.int().optional()),
  clusters: field("Every candidate cluster.", z.array(candidateView)),
});

/** Why a plan cannot be applied any more. */
export const outdatedPlanView = view({
  reason: field("The digest is not that of the current plan.", z.literal("outdated")),
  current_digest: field("Digest of the current plan.", z.string()),
  changes: field("What changed since the plan was requested.", z.array(resolvedChangeView).readonly()),
});

/** The evidence of an error, by its reason. */
export const evidenceView = z.union([planRefusalView, outdatedPlanView]);

export type OutdatedPlanWire = z.output<typeof outdatedPlanView>;
export type PlanRefusalWire = z.output<typeof planRefusalView>;
export type RemedyWire = z.output<typeof remedyView>;
