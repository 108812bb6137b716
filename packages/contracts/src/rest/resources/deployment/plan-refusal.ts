import { z } from "zod";
import { view } from "../../reading/fields.ts";
import { candidateView } from "./plan.ts";

export const lowerTargetView = view(
  { subject: z.string(), availability: z.number() },
  {
    subject: "`class`, or the key of the function with its own target.",
    availability: "Highest reachable availability.",
  },
);

/** One sufficient change; the kind determines the other fields. */
export const remedyView = view(
  {
    kind: z.enum([
      "lower-target",
      "raise-cap",
      "add-cluster",
      "restore-cluster",
      "leave-out",
      "lower-replica-count",
      "allow-best-effort",
    ]),
    text: z.string(),
    targets: z.array(lowerTargetView).readonly().optional(),
    max_replicas: z.int().optional(),
    availability: z.number().optional(),
    clusters: z.array(z.string()).readonly().optional(),
    replica_count: z.int().optional(),
  },
  {
    kind: "Kind of change.",
    text: "Human-readable description.",
    targets: "For `lower-target`: every missed target.",
    max_replicas: "For `raise-cap`: the minimum `PLANNER_MAX_REPLICAS`.",
    availability: "For `add-cluster`: the availability the new cluster must have.",
    clusters: "For `restore-cluster` and `leave-out`: the clusters.",
    replica_count: "For `lower-replica-count`: the maximum `odgm.replica_count`.",
  },
);

export const bestReachedView = view(
  { availability: z.number(), replicas: z.int() },
  { availability: "Reachable availability.", replicas: "Replicas it requires." },
);

/** Why planning failed, for programs; the problem's `detail` has the text. */
export const planRefusalView = view(
  {
    reason: z.enum(["disabled", "no-cluster", "no-usable-cluster", "out-of-reach", "throughput-out-of-reach"]),
    target_availability: z.number().optional(),
    best: bestReachedView.optional(),
    remedies: z.array(remedyView),
    needed_replicas: z.int().optional(),
    max_replicas: z.int().optional(),
    clusters: z.array(candidateView),
  },
  {
    reason: "Why planning failed.",
    target_availability: "For `out-of-reach`: the requested availability.",
    best: "For `out-of-reach`: the best reachable result; absent when no replica count within the cap is allowed.",
    remedies: "Changes that are each sufficient, verified by planning with them.",
    needed_replicas: "For `throughput-out-of-reach`: the required replicas.",
    max_replicas: "For `throughput-out-of-reach`: the allowed replicas.",
    clusters: "Every candidate cluster.",
  },
);

export type PlanRefusalWire = z.output<typeof planRefusalView>;
export type RemedyWire = z.output<typeof remedyView>;
