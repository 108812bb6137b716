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

interface CollectionJson {
  readonly name?: unknown;
  readonly partition_count?: unknown;
  readonly replica_count?: unknown;
  readonly shard_type?: unknown;
  readonly shard_assignments?: unknown;
}

/**
 * Reads the collections that a store was started with. Undefined when the text is not a list of collections. `members`
 * are the ids of all nodes that are known: without assignments, a partition with as many copies is on all of them.
 */
export function parseLayout(collections: string | undefined, members: readonly number[]): StoreLayout | undefined {
  const list = parseList(collections);
  if (list === undefined) return undefined;
  return { partitions: list.flatMap((collection) => partitionsOf(collection, members)) };
}

function parseList(text: string | undefined): readonly CollectionJson[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : undefined;
  } catch {
    return undefined;
  }
}

function partitionsOf(collection: CollectionJson, members: readonly number[]): AssignedPartition[] {
  const { name, partition_count: count, replica_count: copies, shard_assignments: assigned } = collection;
  if (typeof name !== "string" || typeof count !== "number") return [];
  const assignments: readonly unknown[] = Array.isArray(assigned) ? assigned : [];
  const everywhere = typeof copies === "number" && copies >= members.length ? members : [];
  return Array.from({ length: count }, (_, partition) => ({
    collection: name,
    partition,
    shardType: shardTypeOf(collection.shard_type),
    nodes: assignments.length === 0 ? everywhere : nodesOf(assignments[partition]),
  }));
}

function nodesOf(assignment: unknown): readonly number[] {
  const { replica } = (assignment ?? {}) as { readonly replica?: unknown };
  return Array.isArray(replica) ? replica.filter((id) => typeof id === "number") : [];
}

function shardTypeOf(value: unknown): ShardType {
  return Object.values(ShardType).find((type) => type === value) ?? ShardType.none;
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
