import { invalidArgument } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { ClusterDirectory } from "../ports.ts";

/** Refuses a question about a cluster that nobody knows: it is a mistake in the question, whatever the answer would be. */
export function assertKnownCluster(clusters: Pick<ClusterDirectory, "get" | "list">, cluster: ClusterName): void {
  if (clusters.get(cluster) !== undefined) return;
  const known = clusters.list().map(({ name }) => name);
  const fix = known.length === 0 ? "register the cluster" : `use ${known.join(", ")}, or register the cluster`;
  throw invalidArgument("the query", [{ path: "$.cluster", message: `no cluster "${cluster}" is known`, fix }]);
}
