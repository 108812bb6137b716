import type { ShardAssignment } from "../plan-types.ts";

type ShardMap = Readonly<Record<string, readonly ShardAssignment[]>>;

interface ShardMapTask {
  readonly collections: readonly string[];
  readonly partitionCount: number;
  readonly replicas: number;
  /** Node ids, sorted. */
  readonly members: readonly number[];
  /** The assignments in force. */
  readonly previous?: ShardMap | undefined;
}

/**
 * Assigns each partition to `replicas` nodes, with one shard id each.
 *
 * *Guarantees*: shard ids are unique in all collections, because a class runtime manager rejects duplicates. A shard
 * that runs keeps its id, and its node as long as that is a member, so that no data moves without need; a partition that
 * keeps all its nodes keeps its primary. New shards go to consecutive nodes, round robin, with the lowest free ids.
 */
export function assignShards({
  collections,
  partitionCount,
  replicas,
  members,
  previous = {},
}: ShardMapTask): ShardMap {
  const isMember = new Set(members);
  const running = (name: string, partition: number): ShardAssignment | undefined =>
    Object.hasOwn(previous, name) ? previous[name]?.[partition] : undefined;
  const ids = new FreeIds(collections.flatMap((name) => previous[name]?.flatMap(({ shardIds }) => shardIds) ?? []));
  const assign = (name: string, partition: number): ShardAssignment => {
    const before = running(name, partition);
    if (before?.replica.length === replicas && before.replica.every((node) => isMember.has(node))) return before;
    const kept = (before?.replica ?? [])
      .map((node, index) => ({ node, id: before?.shardIds[index] }))
      .filter(({ node }) => isMember.has(node))
      .slice(0, replicas);
    const taken = new Set(kept.map(({ node }) => node));
    const added = members
      .map((_, offset) => members[(partition + offset) % members.length] as number)
      .filter((node) => !taken.has(node))
      .slice(0, replicas - kept.length)
      .map((node) => ({ node, id: undefined }));
    const shards = [...kept, ...added].map(({ node, id }) => ({ node, id: id ?? ids.next() }));
    return {
      primary: before !== undefined && shards[0]?.node === before.replica[0] ? before.primary : (shards[0]?.node ?? 0),
      replica: shards.map(({ node }) => node),
      shardIds: shards.map(({ id }) => id),
    };
  };
  return Object.fromEntries(
    collections.map((name) => [
      name,
      Array.from({ length: partitionCount }, (_, partition) => assign(name, partition)),
    ]),
  );
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
