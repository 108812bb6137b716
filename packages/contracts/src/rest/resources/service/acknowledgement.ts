import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { changeView } from "./revision.ts";

const RESULTS = ["created", "updated", "unchanged", "accepted"] as const;

const written = {
  id: field("For a package its name; for a deployment the id of its unit in the first cluster.", z.string()),
  deployment_key: field("Deployment key; absent for a package.", z.string().optional()),
  status: field("Result of the write; `accepted` while it is still in progress.", z.enum(RESULTS)),
  message: field("Human-readable details; null when there are none.", z.string().nullable()),
};

/** The result of a write. */
export const acknowledgementView = view(written);

/** The result of a package write or of its dry run. */
export const packageAcknowledgementView = view({
  id: field("Package name.", z.string()),
  status: field("Result of the write, or of the dry run.", z.enum(RESULTS)),
  message: field("Human-readable result for the deployments of the package.", z.string().nullable()),
  dry_run: field("Present for a dry run only: nothing was written.", z.literal(true).optional()),
  revision: field(
    "For a dry run: the revision the write would create, or the current one when nothing would change.",
    z.int().optional(),
  ),
  changes: field("For a dry run: differences from the current package.", z.array(changeView).optional()),
});

/** The response when a deployment is still in progress after the wait. */
export const acceptedView = view({
  ...written,
  status: field(written.status.description, z.literal("accepted")),
  status_url: field("URL of the status resource to poll.", z.string()),
});

/** The result of a deletion. Removal from unreachable clusters completes later. */
export const deletionView = view({
  id: field("Deployment key.", z.string()),
  message: field("Human-readable result.", z.string()),
  deleted_envs: field("Clusters from which the deployment was removed.", z.array(z.string())),
  pending_envs: field(
    "Unreachable clusters; the removal completes when they are reachable again.",
    z.array(z.string()).optional(),
  ),
  env: field("Same as `cluster`.", z.string().optional()),
  cluster: field("The only cluster it was deleted from; absent when it was deleted from all.", z.string().optional()),
});

/** Unit ids by cluster, under both names. */
export const clusterMappingsView = view({
  deployment_key: field("Deployment key.", z.string()),
  cluster_ids: field("Unit id by cluster.", z.record(z.string(), z.string())),
  env_ids: field("Same as `cluster_ids`.", z.record(z.string(), z.string())),
});
