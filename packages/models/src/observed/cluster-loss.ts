import type { ClusterName, FunctionKey } from "../fields/ids.ts";

/** Whether the objects of a class stay available: all, some or none of them; stateless classes have none. */
export const QuorumAfterLoss = { kept: "kept", partial: "partial", lost: "lost", stateless: "stateless" } as const;
export type QuorumAfterLoss = (typeof QuorumAfterLoss)[keyof typeof QuorumAfterLoss];

/** What an apply without the lost clusters would do. */
export const PlacementAfterLoss = {
  unchanged: "unchanged",
  replanned: "replanned",
  impossible: "impossible",
} as const;
export type PlacementAfterLoss = (typeof PlacementAfterLoss)[keyof typeof PlacementAfterLoss];

/** A unit that keeps running, with the minimum replicas of its functions. */
export interface RemainingUnit {
  readonly cluster: ClusterName;
  readonly functions: readonly { readonly functionKey: FunctionKey; readonly minScale: number }[];
}

/** The answer to the question what the loss of clusters does to a deployment. */
export interface ClusterLoss {
  readonly clustersDown: readonly ClusterName[];
  /** Clusters of the deployment that are down. */
  readonly lost: readonly ClusterName[];
  readonly running: readonly RemainingUnit[];
  readonly quorum: QuorumAfterLoss;
  /** Partitions of all collections; 0 for a stateless class. */
  readonly partitions: number;
  /** Partitions that keep enough copies. */
  readonly availablePartitions: number;
  /** The bound that the remaining clusters set on the availability. */
  readonly clusterBound: number;
  /** Sets of clusters; the return of any one set makes the class available again. */
  readonly restoredBy: readonly (readonly ClusterName[])[];
  readonly placement: PlacementAfterLoss;
  /** What keeps running, in one sentence. */
  readonly message: string;
  /** When the lost units come back. */
  readonly recovery: string;
}
