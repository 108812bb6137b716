import { hashJson } from "@oaas/foundation/hash";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";

/** With the hash 45 characters, so that children named after the unit (`…-odgm-0`) still fit Kubernetes' 63. */
const HEAD_LENGTH = 32;
const HASH_LENGTH = 12;

/**
 * The id of a deployment's unit in one cluster: the same for ever, different for every other pair, and a DNS label that a
 * person recognises.
 */
export function unitIdOf(key: DeploymentKey, cluster: ClusterName): UnitId {
  const words = `${key}-${cluster}`
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9]+/g, "-");
  const named = /^[a-z]/.test(words) ? words : `u${words}`;
  const head = named.slice(0, HEAD_LENGTH).replace(/-$/, "");
  return `${head}-${hashJson([key, cluster]).slice(0, HASH_LENGTH)}` as UnitId;
}
