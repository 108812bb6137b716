import { applyChange, type Change, type StoredObject } from "../objects/stored-object.ts";
import type { Shard, ShardPlace } from "./shard.ts";

/** A copy of its own: nothing is replicated (T5). */
export class SingleCopy implements Shard {
  readonly collection;
  readonly partition;
  readonly self;
  readonly owner;
  readonly session;
  readonly isWritable = true;
  readonly objects = new Map<string, StoredObject>();

  constructor({ collection, partition, self, owner, session }: ShardPlace) {
    this.collection = collection;
    this.partition = partition;
    this.self = self;
    this.owner = owner;
    this.session = session;
  }

  async write(id: string, change: Change): Promise<void> {
    storeObject(this.objects, id, applyChange(change, this.objects.get(id)));
  }
}

export function storeObject(objects: Map<string, StoredObject>, id: string, after: StoredObject | undefined): void {
  if (after === undefined) objects.delete(id);
  else objects.set(id, after);
}
