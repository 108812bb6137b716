import type { ClusterName } from "../fields/ids.ts";

/** How the object data grid replicates a shard. `basic` and `single` are other names of `none`. */
export const ShardType = { none: "none", basic: "basic", single: "single", mst: "mst", raft: "raft" } as const;
export type ShardType = (typeof ShardType)[keyof typeof ShardType];

/** What a deployment wants of the object data grid. */
export interface OdgmSpec {
  /** Empty means: one, named `package.Class`. */
  readonly collections: readonly string[];
  readonly partitionCount?: number;
  readonly replicaCount?: number;
  readonly shardType?: ShardType;
  /** Node ids per cluster; planned when empty. */
  readonly nodeIds: Readonly<Record<ClusterName, readonly number[]>>;
  readonly log?: string;
}
