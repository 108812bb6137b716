import { equalJson } from "@oaas/foundation";
import type { StoredLayout } from "../../rendering/model/render-input.ts";
import type { ShardAssignment } from "../../state-store/store-layout.ts";

type Stored = StoredLayout["collections"][number];
type Desired = Required<Stored>;

/** How a state store spreads objects over its nodes. Another layout loses the objects of the running one. */
export interface StoreLayout extends Required<StoredLayout> {
  readonly collections: readonly Desired[];
}

/**
 * The differences between two layouts, as `replica_count of orders 1 → 3`, without those that follow from others. Parts
 * that are not known count as equal.
 */
export function layoutChanges(stored: StoredLayout, desired: StoreLayout): readonly string[] {
  const levels = [
    () => [...collectionChanges(stored, desired), ...change("persistent", stored.persistent, desired.persistent)],
    () => change("node ids", stored.nodes?.join(","), desired.nodes.join(",")),
    () => change("node ids of all clusters", stored.members?.join(","), desired.members.join(",")),
    () => shardChanges(stored, desired),
  ];
  for (const level of levels) {
    const changes = level();
    if (changes.length > 0) return changes;
  }
  return [];
}

function collectionChanges(stored: StoredLayout, desired: StoreLayout): readonly string[] {
  const before = new Map(stored.collections.map((one) => [one.name, one]));
  const after = new Set(desired.collections.map(({ name }) => name));
  return [
    ...[...before.keys()].filter((name) => !after.has(name)).map((name) => `collection ${name} is removed`),
    ...[...after].filter((name) => !before.has(name)).map((name) => `collection ${name} is added`),
    ...desired.collections.flatMap(({ name, partitionCount, replicaCount, shardType }) => {
      const running = before.get(name);
      return [
        ...change(`partition_count of ${name}`, running?.partitionCount, partitionCount),
        ...change(`replica_count of ${name}`, running?.replicaCount, replicaCount),
        ...change(`shard_type of ${name}`, running?.shardType, shardType),
      ];
    }),
  ];
}

function shardChanges(stored: StoredLayout, desired: StoreLayout): readonly string[] {
  return desired.collections
    .filter(({ name, assignments }) => {
      const running = stored.collections.find((one) => one.name === name)?.assignments;
      return running !== undefined && !equalJson(running.map(pairsOf), assignments.map(pairsOf));
    })
    .map(({ name }) => `nodes of the shards of ${name} change`);
}

type Value = string | number | boolean;

function change(field: string, before: Value | undefined, after: Value): readonly string[] {
  return before === undefined || before === after ? [] : [`${field} ${String(before)} → ${String(after)}`];
}

/** Nodes with their shards, in any order. */
function pairsOf({ replica, shardIds }: ShardAssignment): readonly string[] {
  return replica.map((node, index) => `${node}:${shardIds[index] ?? ""}`).toSorted();
}

/** Whether the desired layout only adds copies of `mst` collections, which converge without a majority. */
export function isGrowth(stored: StoredLayout, desired: StoreLayout): boolean {
  const contains = (all: readonly number[], some: readonly number[] | undefined): boolean =>
    (some ?? []).every((id) => all.includes(id));
  return (
    stored.collections.length === desired.collections.length &&
    (stored.persistent ?? desired.persistent) === desired.persistent &&
    contains(desired.nodes, stored.nodes) &&
    contains(desired.members, stored.members) &&
    desired.collections.every((one) => {
      const running = stored.collections.find(({ name }) => name === one.name);
      return running !== undefined && growsOnly(running, one);
    })
  );
}

function growsOnly(stored: Stored, desired: Desired): boolean {
  const { assignments = [] } = stored;
  return (
    stored.shardType === "mst" &&
    desired.shardType === "mst" &&
    stored.partitionCount === desired.partitionCount &&
    (stored.replicaCount ?? 0) <= desired.replicaCount &&
    assignments.every((before, partition) => {
      const after = desired.assignments[partition];
      return after !== undefined && pairsOf(before).every((pair) => pairsOf(after).includes(pair));
    })
  );
}
