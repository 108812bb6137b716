import { DeploymentCondition, LifecyclePhase, RuntimePhase } from "@oaas/models";
import { z } from "zod";
import { view } from "../fields.ts";
import { pascal } from "../spelling.ts";
import { functionStatusView } from "./class-runtime.ts";

/** The state of one unit, by its id. */
export const unitStatusView = view({
  id: z.string(),
  status: z.enum(Object.values(DeploymentCondition).map(pascal)),
  phase: z.enum(Object.values(RuntimePhase).map(pascal)),
  message: z.string().nullable(),
  last_updated: z.string(),
});

/** The state of a deployment in one cluster; `error` says why nothing is known or done there. */
const clusterDeploymentStatus = view({
  cluster: z.string(),
  unit_id: z.string(),
  reachable: z.boolean(),
  condition: z.enum(Object.values(DeploymentCondition).map(pascal)),
  phase: z.enum(LifecyclePhase).nullable(),
  message: z.string().nullable(),
  functions: z.array(functionStatusView),
  error: z.string().nullable(),
  observed_at: z.string().nullable(),
});

/** The saga that carries a deployment out, as far as it has come. */
const operationView = view({
  id: z.string(),
  kind: z.enum(["deploy", "delete", "roll_back", "repair"]),
  state: z.enum(["running", "succeeded", "failed", "compensating", "compensated", "cancelled"]),
  done: z.int(),
  total: z.int(),
  message: z.string().nullable(),
});

/** The state of a deployment over all its clusters. */
export const deploymentStatusView = view({
  key: z.string(),
  condition: z.enum(Object.values(DeploymentCondition).map(pascal)),
  message: z.string().nullable(),
  revision: z.int(),
  clusters: z.array(clusterDeploymentStatus),
  operation: operationView.nullable(),
  achieved_quorum_availability: z.number().nullable(),
  updated_at: z.string(),
});
