import type { ClusterName } from "../fields/ids.ts";

/** The availability that a plan computes from the availability of its clusters. It is not a measurement. */
export interface PlannedAvailability {
  readonly target: number;
  /** Whether the deployment states the target, instead of using the default. */
  readonly isTargetStated: boolean;
  /** If every replica fails independently of the others. */
  readonly independentReplicas: number;
  /** The upper bound that the clusters set: all replicas of one cluster fail together. */
  readonly clusterBound: number;
  /** If clusters, zones and nodes fail as a whole. Absent in plans stored by earlier releases. */
  readonly domainAvailability?: number;
  /** The failure domain that limits it the most, with its availability. */
  readonly limitingDomain?: string;
  /** Where replicas are placed. A named cluster has at least one, even if fewer are needed. */
  readonly replicas: Readonly<Record<ClusterName, number>>;
  /** Clusters whose failure alone makes the class unavailable. */
  readonly limitingClusters: readonly ClusterName[];
  /** Whether all numbers meet the target. */
  readonly meetsTarget: boolean;
  /** Which replicas fail together. */
  readonly message: string;
  /** Present if a stated target is missed by `clusterBound` or `domainAvailability`. */
  readonly warning?: string;
}

/** The availability that is left while clusters are down or unreachable. It is not a measurement. */
export interface PresentAvailability {
  readonly clustersDown: readonly ClusterName[];
  readonly clusterBound: number;
  readonly message: string;
}
