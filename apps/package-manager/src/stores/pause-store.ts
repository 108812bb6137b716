import type { DeploymentPause } from "@oaas/models";
import type { CollectionDefinition } from "@oaas/storage";

/** By deployment key. */
export const PAUSES = {
  name: "deployment-pauses",
  codec: { version: 1, decode: pauseRecord },
} satisfies CollectionDefinition<DeploymentPause>;

function pauseRecord(json: unknown): DeploymentPause {
  const record = json as Partial<DeploymentPause> | null;
  if (typeof record?.by !== "string" || typeof record.until !== "string") throw new TypeError("not a pause record");
  return record as DeploymentPause;
}
