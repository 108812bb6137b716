import type { StoreNode } from "@oaas/test-store";
import type { World } from "./world.ts";

interface Acknowledged {
  readonly collection: string;
  readonly partition: number;
  readonly id: string;
  /** Grows with each write to the object. */
  value: number;
}

/** An acknowledged object that cannot be read any more. */
export interface Loss {
  readonly object: string;
  readonly acknowledged: number;
  readonly found: number | undefined;
}

/**
 * Faults of other clusters are seen after this time: a fault of one member so shortly before the restart of another counts
 * as both at once.
 */
const DETECTION_MS = 30_000;

/**
 * What the platform owes: each acknowledged object, except those of partitions whose majority was lost by faults.
 *
 * A fault is more than the platform owes when too few complete copies are left, counting the node that restarts in a turn as
 * gone. A restart by a manager never is.
 */
export class Obligations {
  readonly #world: World;
  readonly #objects = new Map<string, Acknowledged>();
  readonly #released = new Set<string>();
  /** When a node of a cluster last lost its memory by a fault, by cluster. */
  readonly #faults = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  get count(): number {
    return this.#objects.size;
  }

  /** How often faults took the majority of a partition. */
  releases = 0;

  acknowledge(collection: string, partition: number, id: string, value: number): void {
    if (!this.#isOwed(collection, partition)) return;
    const key = `${collection}/${partition}/${id}`;
    const before = this.#objects.get(key);
    if (before === undefined) this.#objects.set(key, { collection, partition, id, value });
    else before.value = Math.max(before.value, value);
  }

  /** Called before a node loses its memory. */
  losesMemory(node: StoreNode | undefined, cause: "planned" | "fault"): void {
    if (node === undefined) return;
    const now = this.#world.now;
    if (cause === "fault") this.#faults.set(node.cluster, now);
    const late = [...this.#faults].some(([cluster, at]) => cluster !== node.cluster && now - at < DETECTION_MS);
    if (cause === "planned" && !late) return;
    for (const shard of node.shards) {
      const { type } = shard.collection;
      const members = shard.collection.partitions[shard.partition]?.members.map((member) => member.node) ?? [];
      const gone = new Set([node.id, ...this.#world.restartingNodes()]);
      const complete = members.filter(
        (id) => !gone.has(id) && this.#isComplete(id, shard.collection.name, shard.partition),
      );
      const needed = type === "raft" ? Math.floor(members.length / 2) + 1 : 1;
      if (complete.length < needed) this.#release(shard.collection.name, shard.partition);
    }
  }

  #release(collection: string, partition: number): void {
    const key = `${collection}/${partition}`;
    if (this.#released.has(key)) return;
    this.#released.add(key);
    this.releases += 1;
    this.#world.trace(`faults took a majority of ${key}`);
    for (const [id, object] of this.#objects) {
      if (object.collection === collection && object.partition === partition) this.#objects.delete(id);
    }
  }

  /** After faults took a majority, objects are owed again when all members of the partition follow one leader. */
  #isOwed(collection: string, partition: number): boolean {
    const key = `${collection}/${partition}`;
    if (!this.#released.has(key)) return true;
    const shards = this.#world.network.nodes.flatMap((node) => node.shard(collection, partition) ?? []);
    const members = shards[0]?.collection.partitions[partition]?.members ?? [];
    const isWhole = shards.length >= members.length && shards.every(({ isWritable }) => isWritable);
    if (isWhole) this.#released.delete(key);
    return isWhole;
  }

  #isComplete(nodeId: number, collection: string, partition: number): boolean {
    const node = this.#world.network.nodes.find((one) => one.id === nodeId);
    const shard = node?.shard(collection, partition);
    if (shard === undefined) return false;
    return [...this.#objects.values()]
      .filter((object) => object.collection === collection && object.partition === partition)
      .every(({ id, value }) => (valueOf(shard.objects.get(id)) ?? -1) >= value);
  }

  /** The objects of partitions that can be read, and that are not there. */
  losses({ all }: { readonly all: boolean }): readonly Loss[] {
    return [...this.#objects.entries()].flatMap(([object, { collection, partition, id, value }]) => {
      const shards = this.#world.network.nodes.flatMap((node) => node.shard(collection, partition) ?? []);
      const readable = shards.filter(({ isWritable }) => isWritable);
      if (readable.length === 0) return all ? [{ object, acknowledged: value, found: undefined }] : [];
      const isMerging = readable[0]?.collection.type === "mst";
      // Copies of mst take the remote value in conflicts, and meet only after some time.
      if (isMerging && !all && shards.length < 2) return [];
      const found = readable.map((shard) => valueOf(shard.objects.get(id))).filter((one) => one !== undefined);
      const newest = found.length === 0 ? undefined : Math.max(...found);
      const isThere = newest !== undefined && (isMerging || newest >= value);
      return isThere ? [] : [{ object, acknowledged: value, found: newest }];
    });
  }
}

function valueOf(object: { readonly entries: ReadonlyMap<string, { readonly data: Uint8Array }> } | undefined) {
  const data = object?.entries.get("n")?.data;
  return data === undefined ? undefined : Number(new TextDecoder().decode(data));
}
