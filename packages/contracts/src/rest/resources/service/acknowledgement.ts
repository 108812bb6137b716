import { z } from "zod";
import { view } from "../../reading/fields.ts";
import { changeView } from "./revision.ts";

const WRITTEN = {
  id: "For a package its name; for a deployment the id of its unit in the first cluster.",
  deployment_key: "Deployment key; absent for a package.",
  status: "Result of the write; `accepted` while it is still in progress.",
  message: "Human-readable details; null when there are none.",
};

/** The result of a write. */
export const acknowledgementView = view(
  {
    id: z.string(),
    deployment_key: z.string().optional(),
    status: z.enum(["created", "updated", "unchanged", "accepted"]),
    message: z.string().nullable(),
  },
  WRITTEN,
);

/** The result of a package write or of its dry run. */
export const packageAcknowledgementView = view(
  {
    id: z.string(),
    status: z.enum(["created", "updated", "unchanged", "accepted"]),
    message: z.string().nullable(),
    dry_run: z.literal(true).optional(),
    revision: z.int().optional(),
    changes: z.array(changeView).optional(),
  },
  {
    id: "Package name.",
    status: "Result of the write, or of the dry run.",
    message: "Human-readable result for the deployments of the package.",
    dry_run: "Present for a dry run only: nothing was written.",
    revision: "For a dry run: the revision the write would create, or the current one when nothing would change.",
    changes: "For a dry run: differences from the current package.",
  },
);

/** The response when a deployment is still in progress after the wait. */
export const acceptedView = view(
  {
    id: z.string(),
    deployment_key: z.string().optional(),
    status: z.literal("accepted"),
    message: z.string().nullable(),
    status_url: z.string(),
  },
  { ...WRITTEN, status_url: "URL of the status resource to poll." },
);

/** The result of a deletion. Removal from unreachable clusters completes later. */
export const deletionView = view(
  {
    id: z.string(),
    message: z.string(),
    deleted_envs: z.array(z.string()),
    pending_envs: z.array(z.string()).optional(),
    env: z.string().optional(),
    cluster: z.string().optional(),
  },
  {
    id: "Deployment key.",
    message: "Human-readable result.",
    deleted_envs: "Clusters from which the deployment was removed.",
    pending_envs: "Unreachable clusters; the removal completes when they are reachable again.",
    env: "Same as `cluster`.",
    cluster: "The only cluster it was deleted from; absent when it was deleted from all.",
  },
);

/** Unit ids by cluster, under both names. */
export const clusterMappingsView = view(
  {
    deployment_key: z.string(),
    cluster_ids: z.record(z.string(), z.string()),
    env_ids: z.record(z.string(), z.string()),
  },
  {
    deployment_key: "Deployment key.",
    cluster_ids: "Unit id by cluster.",
    env_ids: "Same as `cluster_ids`.",
  },
);
