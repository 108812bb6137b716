import { DeploymentCondition, LifecyclePhase, RuntimePhase } from "@oaas/models";
import { z } from "zod";
import { view } from "../../reading/fields.ts";
import { pascalCase } from "../../reading/spelling.ts";
import { functionStatusView } from "../cluster/class-runtime.ts";

/** The status of one deployment unit. */
export const unitStatusView = view(
  {
    id: z.string(),
    status: z.enum(Object.values(DeploymentCondition).map(pascalCase)),
    phase: z.enum(Object.values(RuntimePhase).map(pascalCase)),
    message: z.string().nullable(),
    last_updated: z.string(),
  },
  {
    id: "Deployment unit id.",
    status: "Condition.",
    phase: "Deployment phase.",
    message: "Human-readable message.",
    last_updated: "Time of the cluster's last report.",
  },
);

/** The status of a deployment in one cluster. */
export const clusterDeploymentStatusView = view(
  {
    cluster: z.string(),
    unit_id: z.string(),
    reachable: z.boolean(),
    condition: z.enum(Object.values(DeploymentCondition).map(pascalCase)),
    phase: z.enum(LifecyclePhase).nullable(),
    message: z.string().nullable(),
    functions: z.array(functionStatusView),
    error: z.string().nullable(),
    observed_at: z.string().nullable(),
  },
  {
    cluster: "Cluster name.",
    unit_id: "Deployment unit id.",
    reachable: "Whether the cluster responds. When false, the other fields are its last report.",
    condition: "Condition of the unit.",
    phase: "Lifecycle phase; null when unknown.",
    message: "Human-readable message.",
    functions: "Status of each function.",
    error: "Error that prevents reading or applying the unit; null if none.",
    observed_at: "Time of the cluster's last report; null if it has never reported.",
  },
);

/** The saga of a deployment and its progress. */
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
    id: "Operation id.",
    kind: "Operation type.",
    state: "Operation state.",
    done: "Completed steps.",
    total: "Total steps.",
    message: "The failed step and its error; null if none.",
  },
);

/** The status of a deployment across all its clusters. */
export const deploymentStatusView = view(
  {
    key: z.string(),
    condition: z.enum(Object.values(DeploymentCondition).map(pascalCase)),
    message: z.string().nullable(),
    revision: z.int(),
    clusters: z.array(clusterDeploymentStatusView),
    operation: operationView.nullable(),
    achieved_quorum_availability: z.number().nullable(),
    updated_at: z.string(),
  },
  {
    key: "Deployment key.",
    condition: "The worst condition across its clusters.",
    message: "Human-readable message.",
    revision: "Revision in force; the history may contain newer revisions that were rolled back.",
    clusters: "Status of each unit.",
    operation: "The current or last operation.",
    achieved_quorum_availability: "Availability of the plan in force.",
    updated_at: "Time of the last change or cluster report, whichever is later.",
  },
);
