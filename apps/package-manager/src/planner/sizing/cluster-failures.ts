import type { ClusterName } from "@oaas/models";
import type { PlannerAlgorithm } from "../plan-types.ts";
import { availabilityOf } from "./quorum.ts";

/** The replicas of one cluster. They fail together when the cluster fails. */
export interface ClusterReplicas {
  readonly cluster: ClusterName;
  /** Of the cluster, when it was planned. */
  readonly availability: number;
  readonly replicas: number;
  /** The zone of the cluster, if it is known. Clusters of the same zone fail together with it. */
  readonly zone?: { readonly name: string; readonly availability: number };
  /** The nodes of the cluster, if they are measured. Replicas on the same node fail together with it. */
  readonly nodes?: { readonly count: number; readonly availability: number };
}

/**
 * The probability that `needed` replicas are up if only whole clusters fail: the upper bound that the clusters set, since
 * pods and nodes fail too. With one cluster it is the availability of that cluster, however many replicas it has.
 */
export function clusterBound(placed: readonly ClusterReplicas[], needed: number): number {
  const total = countReplicas(placed);
  // After each cluster, `up[k]` is the probability that exactly k replicas are up.
  const up = new Float64Array(total + 1);
  up[0] = 1;
  for (const each of placed) {
    const { replicas } = each;
    const availability = wholeClusterAvailability(each);
    for (let k = total; k >= 0; k -= 1) {
      const withCluster = k >= replicas ? (up[k - replicas] ?? 0) : 0;
      up[k] = (up[k] ?? 0) * (1 - availability) + withCluster * availability;
    }
  }
  return Math.min(
    1,
    up.slice(needed).reduce((sum, share) => sum + share, 0),
  );
}

/** The share of time that the cluster as a whole is up: without the part of its nodes. */
function wholeClusterAvailability({ availability, nodes }: ClusterReplicas): number {
  return nodes === undefined || nodes.availability === 0
    ? availability
    : Math.min(1, availability / nodes.availability);
}

/** The probability that enough replicas are up if each fails independently, with the availability of its cluster. */
export function independentAvailability(placed: readonly ClusterReplicas[], algorithm: PlannerAlgorithm): number {
  const replicas = placed.flatMap(({ availability, replicas: count }) =>
    Array.from({ length: count }, () => availability),
  );
  return availabilityOf(replicas, algorithm);
}

/** How many of `total` replicas must be up. */
export function neededReplicas(total: number, algorithm: PlannerAlgorithm): number {
  return algorithm === "independent" ? 1 : Math.floor(total / 2) + 1;
}

/** The first `count` replicas of the worst clusters: those of the object with the least availability. */
export function worstReplicas(nodes: readonly ClusterReplicas[], count: number): readonly ClusterReplicas[] {
  let left = count;
  return nodes
    .toSorted((a, b) => a.availability - b.availability || (a.cluster < b.cluster ? -1 : 1))
    .map((each) => {
      const replicas = Math.min(left, each.replicas);
      left -= replicas;
      return { ...each, replicas };
    })
    .filter(({ replicas }) => replicas > 0);
}

export function countReplicas(placed: readonly ClusterReplicas[]): number {
  return placed.reduce((sum, { replicas }) => sum + replicas, 0);
}

/** The clusters whose failure alone leaves too few replicas. */
export function singlePointsOfFailure(placed: readonly ClusterReplicas[], needed: number): readonly ClusterName[] {
  const total = countReplicas(placed);
  return placed.filter(({ replicas }) => total - replicas < needed).map(({ cluster }) => cluster);
}

/** The same replicas while some clusters are down. */
export function withClustersDown(
  placed: readonly ClusterReplicas[],
  down: ReadonlySet<string>,
): readonly ClusterReplicas[] {
  return placed.map((each) => (down.has(each.cluster) ? { ...each, availability: 0 } : each));
}
