import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ShardAssignment } from "../../state-store/store-layout.ts";
import type { Collection } from "./collections.ts";

type StatedAssignments = NonNullable<NonNullable<ClassRuntimeSpec["odgm_config"]>["collection_assignments"]>;
type Stated = StatedAssignments[string][number];

/** Shard assignments by collection; an empty list for a collection whose nodes assign the shards themselves. */
export type ShardMap = ReadonlyMap<string, readonly ShardAssignment[]>;

interface ShardMapTask {
  readonly collections: readonly Collection[];
  /** Node ids in all clusters, sorted. */
  readonly members: readonly number[];
  readonly stated: StatedAssignments;
  /** The assignments in use. */
  readonly running: ShardMap;
}

/**
 * Assigns every partition to its nodes, with one shard id each: as the class states, else as before, else round robin.
 * The assignments are explicit, so that no node ever derives others. Shard ids are unique in all collections.
 */
export function assignShards({ collections, members, stated, running }: ShardMapTask): {
  readonly shards: ShardMap;
  readonly warnings: readonly Violation[];
} {
  const usedIds = new Set<number>();
  const warnings: Violation[] = [];
  const accepted = new Map<string, readonly ShardAssignment[]>();
  for (const collection of collections) {
    const given = Object.hasOwn(stated, collection.name) ? (stated[collection.name] ?? []) : [];
    if (given.length === 0) continue;
    const problem = assignmentProblem(given, collection, usedIds);
    if (problem === undefined) accepted.set(collection.name, given.map(normalized));
    else {
      warnings.push({
        path: pathOf(ROOT_PATH, "odgm_config", "collection_assignments", collection.name),
        message: `the assignments are ignored: ${problem}`,
      });
    }
  }
  const kept = collections.flatMap(({ name }) => (accepted.has(name) ? [] : (running.get(name) ?? [])));
  const free = new FreeIds([...usedIds, ...kept.flatMap(({ shardIds }) => shardIds)]);
  const shards = new Map(
    collections.map((collection) => {
      const before = running.get(collection.name);
      const own = accepted.get(collection.name) ?? (before?.length === 0 ? [] : undefined);
      return [collection.name, own ?? generated(collection, members, before ?? [], free)] as const;
    }),
  );
  return { shards, warnings };
}

function normalized({ replica = [], shard_ids: shardIds = [] }: Stated): ShardAssignment {
  return { replica, shardIds };
}

/** Shards keep their nodes and ids; new ones go to consecutive nodes. A single copy is on one node for all partitions. */
function generated(
  { partitionCount, replicaCount }: Collection,
  members: readonly number[],
  before: readonly ShardAssignment[],
  free: FreeIds,
): readonly ShardAssignment[] {
  return Array.from({ length: partitionCount }, (_, partition) => {
    const { replica = [], shardIds = [] } = before[partition] ?? {};
    const kept = replica.flatMap((node, index) =>
      members.includes(node) ? [{ node, id: shardIds[index] ?? free.next() }] : [],
    );
    const offset = replicaCount === 1 ? 0 : partition;
    const added = members
      .map((_node, index) => members[(offset + index) % members.length] as number)
      .filter((node) => !kept.some((one) => one.node === node))
      .slice(0, Math.max(0, replicaCount - kept.length))
      .map((node) => ({ node, id: free.next() }));
    const all = [...kept.slice(0, replicaCount), ...added];
    return { replica: all.map(({ node }) => node), shardIds: all.map(({ id }) => id) };
  });
}

/** Ids from 1 upwards, without those in use. */
class FreeIds {
  readonly #used: ReadonlySet<number>;
  #last = 0;

  constructor(used: readonly number[]) {
    this.#used = new Set(used);
  }

  next(): number {
    do this.#last += 1;
    while (this.#used.has(this.#last));
    return this.#last;
  }
}

/** Why assignments are invalid; undefined when they are valid, and their shard ids are then recorded in `usedIds`. */
function assignmentProblem(
  stated: readonly Stated[],
  { partitionCount, replicaCount }: Collection,
  usedIds: Set<number>,
): string | undefined {
  if (stated.length !== partitionCount) return `expected ${partitionCount} assignments, got ${stated.length}`;
  const ids = stated.flatMap((one) => one.shard_ids ?? []);
  for (const { primary, replica = [], shard_ids: own = [] } of stated) {
    if (replica.length !== replicaCount || own.length !== replicaCount) {
      return `an assignment has ${replica.length} nodes and ${own.length} shards for ${replicaCount} replicas`;
    }
    // Earlier peers send the shard id of the primary.
    if (primary !== undefined && primary !== replica[0] && !own.includes(primary)) {
      return "a primary is neither the first of its nodes nor one of its shards";
    }
  }
  if (new Set(ids).size !== ids.length || ids.some((id) => usedIds.has(id))) return "a shard id is used twice";
  for (const id of ids) usedIds.add(id);
  return undefined;
}
