import { z } from "zod";
import { view } from "../fields.ts";

/** The name of a package, or the unit in a deployment's first cluster. */
const id = () =>
  z.string().meta({ description: "Of a package its name; of a deployment the id of its unit in the first cluster." });
/** Only of deployments. */
const deploymentKey = () => z.string().meta({ description: "The key of the deployment." }).optional();

/** The answer to a write: which thing, and what became of it. */
export const acknowledgementView = view({
  id: id(),
  deployment_key: deploymentKey(),
  status: z.enum(["created", "updated", "unchanged", "accepted"]),
  message: z.string().nullable(),
});

/** The answer to a deployment that is still being carried out when the wait was over. */
export const acceptedView = view({
  id: id(),
  deployment_key: deploymentKey(),
  status: z.literal("accepted"),
  message: z.string().nullable(),
  status_url: z.string(),
});

/** The answer to a deletion; a cluster that could not be reached is named and finished later. */
export const deletionView = view({
  id: z.string(),
  message: z.string(),
  deleted_envs: z.array(z.string()),
  pending_envs: z.array(z.string()).optional(),
  env: z.string().optional(),
  cluster: z.string().optional(),
});

/** Which unit runs where, under both spellings. */
export const clusterMappingsView = view({
  deployment_key: z.string(),
  cluster_ids: z.record(z.string(), z.string()),
  env_ids: z.record(z.string(), z.string()),
});
