import { Fault, randomInt, unavailable, type Ambient } from "@oaas/foundation";
import type { Collection } from "../environment/collection.ts";
import type { StoreSettings } from "../environment/environment.ts";
import { listPage, type Page, type PageRequest } from "../objects/list-page.ts";
import {
  normalizeId,
  type Batch,
  type Change,
  type Entries,
  type StoredObject,
  type Value,
} from "../objects/stored-object.ts";
import type { Shard, ShardOwner } from "./shard.ts";
import type { NodePlace } from "./store-network.ts";

/** What a node needs of its network. */
export interface ShardHost {
  readonly ambient: Ambient;
  createShards(node: StoreNode): readonly Shard[];
  removeShards(shards: readonly Shard[]): void;
  removeNode(node: StoreNode): void;
}

export interface ObjectKey {
  readonly collection: string;
  readonly partition: number;
  readonly id: string;
}

export interface ShardCount {
  readonly collection: string;
  readonly partition: number;
  readonly shard: number;
  readonly count: number;
}

/** `draining`: gRPC has ended after SIGTERM, and the process goes on replicating (T10). */
export type NodeState = "serving" | "draining" | "ended";

export type Signal = "SIGINT" | "SIGTERM" | "SIGKILL";

const SIGINT_MS = 2_000;
const MAX_RANDOM_ID = 2 ** 48;

/**
 * One process of the store. It starts empty and keeps everything in memory (T1); its members are those of its
 * environment for as long as it runs (T2).
 */
export class StoreNode implements ShardOwner, NodePlace {
  readonly name: string;
  readonly cluster: string;
  readonly id: number;
  readonly settings: StoreSettings;
  /** Resolves when gRPC ends. */
  readonly drained: Promise<void>;
  readonly #host: ShardHost;
  readonly #endGrpc: () => void;
  #shards: readonly Shard[];
  #state: NodeState = "serving";

  constructor(settings: StoreSettings, { name, cluster }: NodePlace, host: ShardHost) {
    this.name = name;
    this.cluster = cluster;
    this.settings = settings;
    this.id = settings.nodeId ?? randomInt(host.ambient.random, MAX_RANDOM_ID);
    this.#host = host;
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.drained, this.#endGrpc] = [promise, resolve];
    this.#shards = host.createShards(this);
  }

  get state(): NodeState {
    return this.#state;
  }

  get isAlive(): boolean {
    return this.#state !== "ended";
  }

  get zenohPort(): number {
    return this.settings.zenohPort;
  }

  /** The copies that it holds, without those that did not appear (T3). */
  get shards(): readonly Shard[] {
    return this.#shards;
  }

  shard(collection: string, partition: number): Shard | undefined {
    return this.#shards.find((each) => each.partition === partition && each.collection.name === collection);
  }

  /** SIGTERM ends gRPC only; SIGINT ends the process after two seconds; SIGKILL at once (T10). */
  signal(signal: Signal): void {
    if (this.#state === "ended") return;
    if (signal === "SIGKILL") this.kill();
    else this.#state = "draining";
    this.#endGrpc();
    if (signal === "SIGINT") this.#host.ambient.timers.after(SIGINT_MS, () => this.kill());
  }

  /** Ends the process: its objects are gone (T1). */
  kill(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#endGrpc();
    const shards = this.#shards;
    this.#shards = [];
    this.#host.removeNode(this);
    this.#host.removeShards(shards);
  }

  /** Drops a copy as if it had not appeared at start (T3), for tests. */
  dropShard(collection: string, partition: number): void {
    const dropped = this.#shards.filter((each) => each.partition === partition && each.collection.name === collection);
    this.#shards = this.#shards.filter((each) => !dropped.includes(each));
    this.#host.removeShards(dropped);
  }

  /** Reads the local copy, which may be old (T4). */
  async get(key: ObjectKey): Promise<StoredObject> {
    const object = this.#read(key);
    if (object !== undefined) return object;
    throw new Fault({ kind: "not-found", resource: "object", name: key.id }, "object not found");
  }

  async set(key: ObjectKey, entries: Entries): Promise<void> {
    await this.#write(key, { kind: "replace", entries });
  }

  async merge(key: ObjectKey, entries: Entries): Promise<StoredObject> {
    await this.#write(key, { kind: "merge", entries });
    return this.get(key);
  }

  /** Succeeds without a majority when the local copy lacks the object (T4). */
  async delete(key: ObjectKey): Promise<void> {
    await this.#write(key, { kind: "remove" });
  }

  /** Returns no value for an absent object or entry. */
  async getValue(key: ObjectKey, entry: string): Promise<{ readonly value?: Value; readonly version?: bigint }> {
    const object = this.#read(key);
    const value = object?.entries.get(this.#entryKey(entry));
    return { ...(value && { value }), ...(object && { version: object.version }) };
  }

  async setValue(key: ObjectKey, entry: string, value: Value): Promise<void> {
    await this.batchSetValues(key, { values: new Map([[entry, value]]), deleteKeys: [] });
  }

  async deleteValue(key: ObjectKey, entry: string): Promise<void> {
    await this.batchSetValues(key, { values: new Map(), deleteKeys: [entry] });
  }

  async batchSetValues(key: ObjectKey, batch: Batch): Promise<void> {
    const values = new Map([...batch.values].map(([entry, value]) => [this.#entryKey(entry), value]));
    const deleteKeys = batch.deleteKeys.map((entry) => this.#entryKey(entry));
    await this.#write(key, { ...batch, kind: "batch", values, deleteKeys });
  }

  async listObjects(collection: string, partition: number, request: PageRequest): Promise<Page<StoredObject>> {
    return listPage(this.#held({ collection, partition }).objects, request);
  }

  async listValues(key: ObjectKey, request: PageRequest): Promise<Page<Value> & { readonly version: bigint }> {
    const object = this.#read(key);
    return { ...listPage(object?.entries ?? new Map<string, Value>(), request), version: object?.version ?? 0n };
  }

  /** Counts the objects of each local copy; needs no majority (T4). */
  async stats(): Promise<readonly ShardCount[]> {
    this.#checkServing();
    return this.#shards.map(({ collection, partition, self, objects }) => ({
      collection: collection.name,
      partition,
      shard: self.shard,
      count: objects.size,
    }));
  }

  /** The settings of a collection, whichever partitions this node holds. */
  collection(name: string): Collection | undefined {
    return this.settings.collections.find((each) => each.name === name);
  }

  #read(key: ObjectKey): StoredObject | undefined {
    const id = this.#id(key);
    return this.#held(key).objects.get(id);
  }

  async #write(key: ObjectKey, change: Change): Promise<void> {
    const id = this.#id(key);
    await this.#held(key).write(id, change);
  }

  /** Requests are not forwarded to the node that holds a partition (T9). */
  #held({ collection, partition }: Pick<ObjectKey, "collection" | "partition">): Shard {
    this.#checkServing();
    const shard = this.shard(collection, partition);
    if (shard !== undefined) return shard;
    throw new Fault({ kind: "not-found", resource: "shard", name: `${collection}/${partition}` }, "not found shard");
  }

  #checkServing(): void {
    if (this.#state !== "serving") throw unavailable("the state store", `${this.name} does not serve gRPC`);
  }

  #id({ id }: ObjectKey): string {
    return normalizeId("object_id", id, this.settings.maxIdLength);
  }

  #entryKey(key: string): string {
    return normalizeId("key", key, this.settings.maxIdLength);
  }
}
