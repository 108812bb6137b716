import type { Timer } from "@oaas/foundation";
import type { Collection, Member, Partition } from "../environment/collection.ts";
import type { Change, StoredObject } from "../objects/stored-object.ts";

/** What a partition needs to know of the node that holds a copy. */
export interface ShardOwner {
  readonly name: string;
  readonly id: number;
  readonly cluster: string;
  /** Until the process ends, also when it no longer serves gRPC (T10). */
  readonly isAlive: boolean;
  readonly zenohPort: number;
}

/** The copy of a partition that one node holds. */
export interface Shard {
  readonly collection: Collection;
  readonly partition: number;
  readonly self: Member;
  readonly owner: ShardOwner;
  /** Session of the node that carries its traffic (T6). */
  readonly session: number;
  /** Applied objects, possibly old (T4). */
  readonly objects: ReadonlyMap<string, StoredObject>;
  /** Whether a write through this copy can be acknowledged now. */
  readonly isWritable: boolean;
  write(id: string, change: Change): Promise<void>;
}

/** What every copy knows of itself. */
export interface ShardPlace {
  readonly collection: Collection;
  readonly partition: number;
  readonly self: Member;
  readonly owner: ShardOwner;
  readonly session: number;
}

/** The key under which the copies of a partition find each other, in all deployments (T7). */
export function partitionKey(collection: string, partition: number): string {
  return `oprc/${collection}/${partition}`;
}

export function partitionOf({ collection, partition }: ShardPlace): Partition {
  return collection.partitions[partition] ?? { members: [], primary: undefined };
}

/** Names the members of a partition; a copy with another list is in another group. */
export function membershipOf(place: ShardPlace): string {
  return partitionOf(place)
    .members.map(({ node, shard }) => `${node}/${shard}`)
    .join(" ");
}

/** How messages travel between two copies. */
export interface Links {
  connected(a: ShardPlace, b: ShardPlace): boolean;
  /** Draws whether a message is lost. */
  loses(): boolean;
  readonly latencyMs: number;
  now(): number;
  after(delayMs: number, callback: () => void): Timer;
}

/** Time after which a lost message is sent again. */
export const RESEND_MS = 100;
