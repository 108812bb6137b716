import type { MessageShape } from "@bufbuild/protobuf";
import type { ObjectPage, oprcData } from "@oaas/contracts/grpc";
import type { ObjectKey } from "@oaas/kube-core";
import type { HeldShard } from "./node-answer.ts";

/** The contents of an object. */
export type StoreObject = MessageShape<typeof oprcData.ObjDataSchema>;

export interface StorePartition {
  readonly collection: string;
  readonly partition: number;
}

export interface StoreObjectKey extends StorePartition {
  readonly id: string;
}

/** A connection to one node of a state store. Faults are those of the gRPC status; see `isShardAbsent`. */
export interface StoreNode {
  /** host:port */
  readonly address: string;
  /** The shards of the node, with their number of objects. */
  shards(signal: AbortSignal): Promise<readonly HeldShard[]>;
  /** Undefined for a version that does not report them. */
  capabilities(signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** One page of at most `limit` objects, reserved objects of the platform included. */
  list(
    partition: StorePartition & { readonly prefix?: string; readonly limit: number; readonly cursor?: Uint8Array },
    signal: AbortSignal,
  ): Promise<ObjectPage>;
  /** Reads the copy of this node, which may be old. Undefined when the object does not exist. */
  get(key: StoreObjectKey, signal: AbortSignal): Promise<StoreObject | undefined>;
  /** Replaces the object; resolves when the store acknowledged the write. */
  set(key: StoreObjectKey, object: StoreObject, signal: AbortSignal): Promise<void>;
  delete(key: StoreObjectKey, signal: AbortSignal): Promise<void>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** Connects to single nodes of state stores, past their Services: only the node that has a partition answers for it. */
export interface StoreNodes {
  /** Throws unavailable when the pod has no address. */
  open(pod: ObjectKey): Promise<StoreNode>;
}

/** The address of a node (host:port) by its pod; undefined while the pod has none. */
export type StoreNodeResolver = (pod: ObjectKey) => Promise<string | undefined> | string | undefined;
