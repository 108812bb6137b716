import type { ShardAssignment } from "../../state-store/store-layout.ts";
import type { StoreLayout } from "./layout-change.ts";
import type { Invocations } from "./routes.ts";

/** A collection in the format of the state store. */
export interface CollectionRequest {
  readonly name: string;
  readonly partition_count: number;
  readonly replica_count: number;
  readonly shard_assignments: readonly {
    readonly primary: number | null;
    readonly replica: readonly number[];
    readonly shard_ids: readonly number[];
  }[];
  readonly shard_type: string;
  readonly options: Readonly<Record<string, string>>;
  readonly invocations: Invocations | null;
}

/**
 * Only the primary creates a shard. If all nodes do at once, some refuse it and miss the shard until they restart.
 */
const RAFT_OPTIONS = { raft_init_leader_only: "true" };

/** The value of `ODGM_COLLECTION`. Equal classes get equal text. */
export function collectionRequests(
  { collections }: Pick<StoreLayout, "collections">,
  options: Readonly<Record<string, string>>,
  invocations: Invocations,
): readonly CollectionRequest[] {
  return collections.map(({ name, partitionCount, replicaCount, shardType, assignments }) => ({
    name,
    partition_count: partitionCount,
    replica_count: replicaCount,
    shard_assignments: assignments.map(assignmentToJson),
    shard_type: shardType,
    options: sortByName({ ...(shardType === "raft" ? RAFT_OPTIONS : {}), ...options }),
    invocations: Object.keys(invocations.fn_routes).length + invocations.disabled_fn.length === 0 ? null : invocations,
  }));
}

/** The primary is the node id of the first replica: the store compares it with its own id. */
function assignmentToJson({ replica, shardIds }: ShardAssignment): CollectionRequest["shard_assignments"][number] {
  return { primary: replica[0] ?? null, replica, shard_ids: shardIds };
}

function sortByName(options: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
}
