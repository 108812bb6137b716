import { MAX_PAUSE_SECONDS, type DeploymentPause } from "@oaas/models";
import { field, input, optional as optionalInput, readInteger, readText, readTimestamp } from "../../reading/fields.ts";
import { optional, required, resource, string, timestamp } from "../../reading/resource.ts";

/** A pause of a deployment. */
export const deploymentPause = resource<DeploymentPause>()({
  by: required("by", "Caller that paused the deployment.", string()),
  at: required("at", "Time of the request.", timestamp()),
  until: required("until", "When the pause ends by itself.", timestamp()),
  reason: optional("reason", "Reason, if one was given.", string()),
});

/** How long to pause a deployment. */
export const pauseInput = input({
  until: field(
    "When the pause ends, at most 90 days from now; instead of `duration_secs`.",
    optionalInput(readTimestamp()),
  ),
  duration_secs: field(
    "Seconds that the pause lasts; instead of `until`.",
    optionalInput(readInteger({ min: 1, max: MAX_PAUSE_SECONDS })),
  ),
  reason: field("Reason; shown in the status, in plans and in refusals.", optionalInput(readText())),
});
