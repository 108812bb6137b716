/** A shard that a node has. */
export interface HeldShard {
  readonly collection: string;
  readonly partition: number;
  readonly shard: number;
  readonly objects: number;
}

/** What one node answered. */
export interface NodeAnswer {
  readonly nodeId: number;
  /** The pod that answered; its successor is another store. */
  readonly podUid: string;
  /** Start of the container that answered: one that was restarted in its pod is empty again. */
  readonly startedAtMs: number | undefined;
  /** host:port */
  readonly address: string;
  readonly shards: readonly HeldShard[];
  /** The first shard that does not have all acknowledged objects yet, as after a restart; absent when there is none. */
  readonly behind?: Pick<HeldShard, "collection" | "partition">;
  readonly capabilities?: readonly string[];
}

/** Prefix of the ids of objects that the platform keeps in every partition; lists and counts leave them out. */
export const RESERVED_PREFIX = "oaas.health.";

/** Whether an object belongs to the platform. */
export function isReservedObject(id: string): boolean {
  return id.startsWith(RESERVED_PREFIX);
}

/** The object that a cluster writes to prove that a partition has a quorum. */
export function probeObjectId(cluster: string): string {
  return `${RESERVED_PREFIX}${cluster}`;
}
