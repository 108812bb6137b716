import type { ClusterName } from "../fields/ids.ts";

/** Replication of a shard in the object data grid. `basic` and `single` are aliases of `none`. */
export const ShardType = { none: "none", basic: "basic", single: "single", mst: "mst", raft: "raft" } as const;
export type ShardType = (typeof ShardType)[keyof typeof ShardType];

/** Object data grid settings of a deployment. */
export interface OdgmSpec {
  /** Empty: one collection, named `package.Class`. */
  readonly collections: readonly string[];
  readonly partitionCount?: number;
  readonly replicaCount?: number;
  readonly shardType?: ShardType;
  /** Node ids by cluster; the planner chooses if empty. */
  readonly nodeIds: Readonly<Record<ClusterName, readonly number[]>>;
  readonly log?: string;
  /** Allows a change of collections, partitions, copies, shard type or nodes that loses stored objects. */
  readonly allowLayoutChange?: boolean;
  /** Allows a restart of the state store that loses objects, and restarts it for settings that wait for one. */
  readonly allowRestart?: boolean;
}
