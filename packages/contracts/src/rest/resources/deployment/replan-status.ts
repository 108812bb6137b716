import {
  COUNT_RANGE,
  ReplanMode,
  ReplanReason,
  ReplanState,
  type ClusterName,
  type ReplanBudget,
  type ReplanChange,
  type ReplanStatus,
} from "@oaas/models";
import type { z } from "zod";
import { field, input, optional as optionalInput, readText } from "../../reading/fields.ts";
import {
  array,
  enumeration,
  integer,
  nested,
  optional,
  required,
  resource,
  string,
  timestamp,
  type Codec,
} from "../../reading/resource.ts";
import { resolvedChangeView } from "../service/revision.ts";

const change: Codec<ReplanChange, typeof resolvedChangeView> = {
  read: resolvedChangeView as z.ZodType<ReplanChange>,
  view: resolvedChangeView,
  write: (value) => value,
};

/** Automatic changes of the last hour, and their limits. */
export const replanBudget = resource<ReplanBudget>()({
  deploymentUsed: required(
    "deployment_used",
    "Automatic changes of the deployment in the last hour.",
    integer(COUNT_RANGE),
  ),
  deploymentLimit: required("deployment_limit", "`REPLAN_DEPLOYMENT_BUDGET`.", integer(COUNT_RANGE)),
  platformUsed: required(
    "platform_used",
    "Automatic changes of all deployments in the last hour.",
    integer(COUNT_RANGE),
  ),
  platformLimit: required("platform_limit", "`REPLAN_BUDGET`.", integer(COUNT_RANGE)),
});

/** The new plan of a running deployment. */
export const replanStatus = resource<ReplanStatus>()({
  mode: required("mode", "`replan` of the deployment.", enumeration(ReplanMode)),
  state: required(
    "state",
    "`waiting` (a cluster is lost, but not for long enough), `proposed` (a user can apply the plan), `blocked` (nothing can be applied now) or `applied`.",
    enumeration(ReplanState),
  ),
  reason: required(
    "reason",
    "`cluster_lost`, `placement` (other clusters are better by more than the hysteresis margin), `scale`, or `drain` of a cluster.",
    enumeration(ReplanReason),
  ),
  message: required("message", "The reason with its inputs, and what happens next.", string()),
  since: required("since", "When the cause began.", timestamp()),
  lostClusters: required("lost_clusters", "Clusters of the deployment that are lost.", array(string<ClusterName>())),
  planDigest: optional(
    "plan_digest",
    "Digest of the new plan; `POST /api/v1/deployments/{key}/replan` applies a proposed one.",
    string(),
  ),
  changes: required("changes", "Differences from the plan in force.", array(change)),
  stateEffect: optional(
    "state_effect",
    "Which stored objects are lost or left behind; absent for a class without state.",
    string(),
  ),
  revision: optional("revision", "Revision of the applied plan.", integer(COUNT_RANGE)),
  retryAt: optional("retry_at", "When a waiting or blocked re-plan is decided again.", timestamp()),
  budget: optional("budget", "Budget of automatic changes; present with `auto`.", nested(replanBudget)),
});

/** A proposed plan to apply. */
export const replanInput = input({
  plan_digest: field("Digest of the proposed plan; the request fails with 409 when it is outdated.", readText()),
  reason: field("Reason; stored in the history.", optionalInput(readText())),
});
