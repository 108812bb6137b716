import { isJsonObject } from "@oaas/kube-core";
import { ShardType } from "@oaas/models";

/** A partition and the nodes that keep a copy of it, in all clusters. */
export interface AssignedPartition {
  readonly collection: string;
  readonly partition: number;
  readonly shardType: ShardType;
  /** Node ids; empty when the store decides, as earlier versions let it. */
  readonly nodes: readonly number[];
}

/** The partitions of a running state store. */
export interface StoreLayout {
  readonly partitions: readonly AssignedPartition[];
}

/** Key of the ConfigMap with the collections, in the format of `ODGM_COLLECTION`. */
export const COLLECTIONS_KEY = "collections.json";

/** The nodes that hold one partition, with one shard id each. The first node creates the shard. */
export interface ShardAssignment {
  readonly replica: readonly number[];
  readonly shardIds: readonly number[];
}

/** A collection as it is stored. Absent members are not known. */
export interface StoredCollection {
  readonly name: string;
  readonly partitionCount?: number;
  readonly replicaCount?: number;
  readonly shardType?: ShardType;
  /** Empty when the nodes assigned the shards themselves, as with earlier versions. */
  readonly assignments?: readonly ShardAssignment[];
}

/** Reads the collections that a store was started with. Empty when the text is not a list of collections. */
export function parseCollections(text: unknown): readonly StoredCollection[] {
  return listOf(parseJson(text)).flatMap((one) => collectionFromJson(one) ?? []);
}

function collectionFromJson(json: unknown): StoredCollection | undefined {
  if (!isJsonObject(json) || typeof json["name"] !== "string") return undefined;
  const { name, partition_count: partitions, replica_count: replicas, shard_type: type } = json;
  return {
    name,
    ...(isCount(partitions) ? { partitionCount: partitions } : {}),
    ...(isCount(replicas) ? { replicaCount: replicas } : {}),
    ...(typeof type === "string" && Object.hasOwn(ShardType, type) ? { shardType: type as ShardType } : {}),
    assignments: listOf(json["shard_assignments"]).map(assignmentFromJson),
  };
}

function assignmentFromJson(json: unknown): ShardAssignment {
  const { replica, shard_ids: ids } = isJsonObject(json) ? json : {};
  return { replica: listOf(replica).filter(isCount), shardIds: listOf(ids).filter(isCount) };
}

/**
 * The partitions of the collections that a store was started with; undefined without a collection. `members` are the ids
 * of all nodes that are known: without assignments, a partition with as many copies is on all of them.
 */
export function parseLayout(collections: string | undefined, members: readonly number[]): StoreLayout | undefined {
  const parsed = parseCollections(collections);
  return parsed.length === 0 ? undefined : { partitions: parsed.flatMap((one) => partitionsOf(one, members)) };
}

function partitionsOf(
  { name, partitionCount = 0, replicaCount, shardType = ShardType.none, assignments = [] }: StoredCollection,
  members: readonly number[],
): AssignedPartition[] {
  const everywhere = replicaCount !== undefined && replicaCount >= members.length ? members : [];
  return Array.from({ length: partitionCount }, (_, partition) => ({
    collection: name,
    partition,
    shardType,
    nodes: assignments.length === 0 ? everywhere : (assignments[partition]?.replica ?? []),
  }));
}

/** The items of a value that may be a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether a value is a count or an id. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The value of a JSON text; undefined for other values. */
export function parseJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The partitions that a node keeps. */
export function partitionsOfNode({ partitions }: StoreLayout, nodeId: number): readonly AssignedPartition[] {
  return partitions.filter(({ nodes }) => nodes.includes(nodeId));
}

/** The ids of all nodes with a partition, in all clusters. */
export function assignedNodes({ partitions }: StoreLayout): ReadonlySet<number> {
  return new Set(partitions.flatMap(({ nodes }) => nodes));
}

/** How many copies of a partition must exist for acknowledged objects to be kept. */
export function copiesToKeep({ shardType, nodes }: Pick<AssignedPartition, "shardType" | "nodes">): number {
  // Nodes of other types do not exchange objects: each copy is a store of its own.
  if (shardType === ShardType.raft) return Math.floor(nodes.length / 2) + 1;
  return shardType === ShardType.mst ? 1 : nodes.length;
}

/** Identifies a partition in sets and maps. */
export function partitionKey({ collection, partition }: Pick<AssignedPartition, "collection" | "partition">): string {
  return `${collection}/${partition}`;
}
