import { DeploymentCondition, LifecyclePhase, RuntimePhase } from "@oaas/models";
import { z } from "zod";
import { view } from "../fields.ts";
import { pascal } from "../spelling.ts";
import { functionStatusView } from "./class-runtime.ts";

/** The state of one unit, by its id. */
export const unitStatusView = view(
  {
    id: z.string(),
    status: z.enum(Object.values(DeploymentCondition).map(pascal)),
    phase: z.enum(Object.values(RuntimePhase).map(pascal)),
    message: z.string().nullable(),
    last_updated: z.string(),
  },
  {
    id: "The id of the unit.",
    status: "How it is.",
    phase: "How far it is on its way.",
    message: "Both in a sentence.",
    last_updated: "When its cluster said so.",
  },
);

/** The state of a deployment in one cluster; `error` says why nothing is known or done there. */
export const clusterDeploymentStatusView = view(
  {
    cluster: z.string(),
    unit_id: z.string(),
    reachable: z.boolean(),
    condition: z.enum(Object.values(DeploymentCondition).map(pascal)),
    phase: z.enum(LifecyclePhase).nullable(),
    message: z.string().nullable(),
    functions: z.array(functionStatusView),
    error: z.string().nullable(),
    observed_at: z.string().nullable(),
  },
  {
    cluster: "The cluster.",
    unit_id: "The id of its unit.",
    reachable: "Whether the cluster answers; when it does not, the rest is its last word.",
    condition: "How the unit is.",
    phase: "How far it is on its way; null when nobody knows.",
    message: "Both in a sentence.",
    functions: "How each function is.",
    error: "Why nothing is known or done there; null when all is well.",
    observed_at: "When the cluster said so; null when it never did.",
  },
);

/** The saga that carries a deployment out, as far as it has come. */
export const operationView = view(
  {
    id: z.string(),
    kind: z.enum(["deploy", "delete", "roll_back", "repair"]),
    state: z.enum(["running", "succeeded", "failed", "compensating", "compensated", "cancelled"]),
    done: z.int(),
    total: z.int(),
    message: z.string().nullable(),
  },
  {
    id: "Its id.",
    kind: "What it does.",
    state: "How far it is.",
    done: "Steps that are done.",
    total: "Steps in all.",
    message: "Which step failed, and why; null when none did.",
  },
);

/** The state of a deployment over all its clusters. */
export const deploymentStatusView = view(
  {
    key: z.string(),
    condition: z.enum(Object.values(DeploymentCondition).map(pascal)),
    message: z.string().nullable(),
    revision: z.int(),
    clusters: z.array(clusterDeploymentStatusView),
    operation: operationView.nullable(),
    achieved_quorum_availability: z.number().nullable(),
    updated_at: z.string(),
  },
  {
    key: "The key of the deployment.",
    condition: "The worst of its clusters.",
    message: "The same in a sentence.",
    revision: "Of the wish in force; the history may have newer ones, that were undone.",
    clusters: "How each unit is.",
    operation: "What is being carried out, or was last.",
    achieved_quorum_availability: "What the plan in force reaches.",
    updated_at: "When the wish was written or a cluster last reported, whichever is later.",
  },
);
