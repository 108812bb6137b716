import { hashJson } from "@oaas/foundation/hash";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";

/** 45 characters with the hash, so that children named after the unit (`…-odgm-0`) fit the 63 of Kubernetes. */
const HEAD_LENGTH = 32;
const HASH_LENGTH = 12;

/**
 * The id of the unit of a deployment in one cluster: a readable DNS label that is stable and unique per pair of
 * deployment and cluster.
 */
export function unitIdOf(key: DeploymentKey, cluster: ClusterName): UnitId {
  const text = `${key}-${cluster}`
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9]+/g, "-");
  const named = /^[a-z]/.test(text) ? text : `u${text}`;
  const head = named.slice(0, HEAD_LENGTH).replace(/-$/, "");
  return `${head}-${hashJson([key, cluster]).slice(0, HASH_LENGTH)}` as UnitId;
}
