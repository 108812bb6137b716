import { ShardType, type ClusterName } from "@oaas/models";
import type { PlannedOdgm, PlannerAlgorithm } from "../plan-types.ts";
import { domainAvailability, limitingDomain, type FailureDomain } from "./failure-domains.ts";
import { clusterBound, neededReplicas, singlePointsOfFailure, type ClusterReplicas } from "./cluster-failures.ts";

/** Replicas by cluster of which `needed` must be up: the copies of some objects, or the replicas of a stateless class. */
export interface CopySet {
  readonly placed: readonly ClusterReplicas[];
  readonly needed: number;
  /** How many partitions are placed like this; 0 for a stateless class. */
  readonly partitions: number;
}

/** The distinct placements of partitions. A stateless class has one: any cluster that is up serves its requests. */
export function copySetsOf(
  clusters: readonly ClusterReplicas[],
  odgm: PlannedOdgm | undefined,
  algorithm: PlannerAlgorithm,
): readonly CopySet[] {
  if (odgm === undefined) return [{ placed: clusters, needed: 1, partitions: 0 }];
  const clusterOf = new Map(
    Object.entries(odgm.nodeIds).flatMap(([cluster, ids]) => ids.map((id) => [id, cluster] as const)),
  );
  const sets = new Map<string, CopySet>();
  for (const { replica } of Object.values(odgm.assignments).flat()) {
    const holders = copyHolders(replica, odgm.shardType).map((id) => clusterOf.get(id) ?? "");
    const key = holders.toSorted().join(" ");
    const known = sets.get(key);
    sets.set(key, {
      placed: known?.placed ?? countByCluster(clusters, holders),
      needed: known?.needed ?? (odgm.shardType === ShardType.mst ? 1 : neededReplicas(holders.length, algorithm)),
      partitions: (known?.partitions ?? 0) + 1,
    });
  }
  return [...sets.values()];
}

/** The nodes that have a copy: of a type without replication, only the first. */
function copyHolders(replica: readonly number[], type: ShardType | undefined): readonly number[] {
  const isReplicated = type === undefined || type === ShardType.raft || type === ShardType.mst;
  return isReplicated ? replica : replica.slice(0, 1);
}

function countByCluster(clusters: readonly ClusterReplicas[], holders: readonly string[]): readonly ClusterReplicas[] {
  return clusters
    .map((each) => ({ ...each, replicas: holders.filter((holder) => holder === each.cluster).length }))
    .filter(({ replicas }) => replicas > 0);
}

/** The bound that the clusters set on the worst placed objects. */
export function worstBound(sets: readonly CopySet[]): number {
  return Math.min(...sets.map(({ placed, needed }) => clusterBound(placed, needed)));
}

/** The availability of the worst placed objects by failure domains, and the domain that limits it. */
export function worstByDomains(sets: readonly CopySet[]): {
  readonly availability: number;
  readonly limiting?: FailureDomain;
} {
  let worst: CopySet | undefined;
  let availability = 1;
  for (const set of sets) {
    const value = domainAvailability(set.placed, set.needed);
    if (worst !== undefined && value >= availability) continue;
    worst = set;
    availability = value;
  }
  const limiting = worst === undefined ? undefined : limitingDomain(worst.placed, worst.needed);
  return { availability, ...(limiting === undefined ? {} : { limiting }) };
}

/** Clusters whose failure alone makes some objects unavailable. */
export function limitingClusters(sets: readonly CopySet[]): readonly ClusterName[] {
  return [...new Set(sets.flatMap(({ placed, needed }) => singlePointsOfFailure(placed, needed)))].sort();
}
