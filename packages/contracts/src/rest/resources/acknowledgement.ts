import { z } from "zod";
import { view } from "../fields.ts";
import { changeView } from "./revision.ts";

const WRITTEN = {
  id: "Of a package its name; of a deployment the id of its unit in the first cluster.",
  deployment_key: "The key of the deployment; absent for a package.",
  status: "What became of it; `accepted` when it is still being carried out.",
  message: "More about it in words; null when there is nothing more to say.",
};

/** The answer to a write: which thing, and what became of it. */
export const acknowledgementView = view(
  {
    id: z.string(),
    deployment_key: z.string().optional(),
    status: z.enum(["created", "updated", "unchanged", "accepted"]),
    message: z.string().nullable(),
  },
  WRITTEN,
);

/** The answer to a write of a package. A dry run tells what the write would do, and that it was one. */
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
    id: "Its name.",
    status: "What became of it, or would.",
    message: "What became of the deployments inside it, in words.",
    dry_run: "Only of a dry run: nothing was written.",
    revision: "Of a dry run: the revision that it would be, or is when nothing would change.",
    changes: "Of a dry run: what would differ from the package as it is.",
  },
);

/** The answer to a deployment that is still being carried out when the wait was over. */
export const acceptedView = view(
  {
    id: z.string(),
    deployment_key: z.string().optional(),
    status: z.literal("accepted"),
    message: z.string().nullable(),
    status_url: z.string(),
  },
  { ...WRITTEN, status_url: "Where to ask how far it is." },
);

/** The answer to a deletion; a cluster that could not be reached is named and finished later. */
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
    id: "The key of the deployment.",
    message: "What was done, in words.",
    deleted_envs: "Clusters in which nothing of it is left.",
    pending_envs: "Clusters out of reach; it is finished there when they are back.",
    env: "The same as `cluster`.",
    cluster: "The one cluster it was deleted from; absent when that was all of them.",
  },
);

/** Which unit runs where, under both spellings. */
export const clusterMappingsView = view(
  {
    deployment_key: z.string(),
    cluster_ids: z.record(z.string(), z.string()),
    env_ids: z.record(z.string(), z.string()),
  },
  {
    deployment_key: "The key of the deployment.",
    cluster_ids: "The id of its unit, by cluster.",
    env_ids: "The same as `cluster_ids`.",
  },
);
