import { z } from "zod";
import { view } from "../fields.ts";
import { candidateView } from "./plan.ts";

export const lowerTargetView = view(
  { subject: z.string(), availability: z.number() },
  {
    subject: "`class`, or the key of the function whose own target it is.",
    availability: "The highest that is reached.",
  },
);

/** One change that would do by itself; its kind says which of the other members it has. */
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
    kind: "What it is.",
    text: "The same in words.",
    targets: "Of `lower-target`: every target that is missed.",
    max_replicas: "Of `raise-cap`: the least `PLANNER_MAX_REPLICAS`.",
    availability: "Of `add-cluster`: how much of the time the new one must be up.",
    clusters: "Of `restore-cluster` and `leave-out`: which.",
    replica_count: "Of `lower-replica-count`: the most `odgm.replica_count`.",
  },
);

export const bestReachedView = view(
  { availability: z.number(), replicas: z.int() },
  { availability: "What is reached.", replicas: "With how many." },
);

/** Why there is no plan, for programs; the words are the refusal's `detail`. */
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
    reason: "What stands against it.",
    target_availability: "Of `out-of-reach`: what was asked for.",
    best: "Of `out-of-reach`: the best there is; left out when no count within the cap is allowed at all.",
    remedies: "Each change that would make it reachable by itself, tried by planning with it.",
    needed_replicas: "Of `throughput-out-of-reach`: how many replicas it takes.",
    max_replicas: "Of `throughput-out-of-reach`: how many are allowed.",
    clusters: "What was found out about each cluster.",
  },
);

export type PlanRefusalWire = z.output<typeof planRefusalView>;
export type RemedyWire = z.output<typeof remedyView>;
