import type { CollectionDefinition } from "@oaas/storage";
import type { ClusterRegistration } from "../use-cases.ts";

/**
 * A cluster that was registered through the API.
 *
 * A token that was sent as a value is encrypted (ADR 0021); of a token file, only the path is stored. Neither is ever
 * returned.
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
  secrets: [["registration", "token"]],
} satisfies CollectionDefinition<StoredCluster>;

function clusterRecord(json: unknown): StoredCluster {
  const record = json as Partial<StoredCluster> | null;
  const { name, url, labels, retryAttempts } = record?.registration ?? {};
  if (typeof name !== "string" || typeof url !== "string" || !URL.canParse(url)) {
    throw new TypeError("not a cluster record");
  }
  if (typeof labels !== "object" || typeof retryAttempts !== "number")
    throw new TypeError("an incomplete cluster record");
  return record as StoredCluster;
}
