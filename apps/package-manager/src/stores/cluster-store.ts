import type { CollectionDefinition } from "@oaas/storage";
import type { ClusterRegistration } from "../use-cases.ts";

/**
 * A cluster that was added while PM ran.
 *
 * A token that was given as a value is kept as such, as long as the cluster is: the store must be as well guarded as the clusters are. A token
 * file is the better way, for it leaves only its path here. Neither is ever shown.
 */
export interface StoredCluster {
  readonly registration: ClusterRegistration;
  readonly addedBy: string;
  /** RFC 3339. */
  readonly addedAt: string;
  readonly reason?: string;
}

/** By name. */
export const CLUSTERS = {
  name: "clusters",
  codec: { version: 1, decode: clusterRecord },
} satisfies CollectionDefinition<StoredCluster>;

function clusterRecord(json: unknown): StoredCluster {
  const record = json as Partial<StoredCluster> | null;
  const { name, url, labels, retryAttempts } = record?.registration ?? {};
  if (typeof name !== "string" || typeof url !== "string" || !URL.canParse(url)) {
    throw new TypeError("it is no cluster");
  }
  if (typeof labels !== "object" || typeof retryAttempts !== "number") throw new TypeError("it is half a cluster");
  return record as StoredCluster;
}
