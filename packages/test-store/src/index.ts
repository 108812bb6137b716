/**
 * A state store with the measured traits T1 to T12 of the real one (README). This entry has no sockets: nodes live in a
 * `StoreNetwork`, on the time and randomness of its `Ambient`.
 *
 * Reading order: environment (what a node reads), objects (one object and its changes), network (partitions, nodes, faults).
 */
export { readStoreEnvironment, type Environment, type StoreSettings } from "./environment/environment.ts";
export type { Collection, FunctionRoute, Member, Partition, ShardType } from "./environment/collection.ts";
export type { Batch, Entries, StoredObject, Value } from "./objects/stored-object.ts";
export type { Page, PageRequest } from "./objects/list-page.ts";
export type { Shard } from "./network/shard.ts";
export {
  MEASURED_MISSING_SHARDS,
  StoreNetwork,
  type Cut,
  type MissingShards,
  type NodePlace,
  type StoreNetworkOptions,
} from "./network/store-network.ts";
export { StoreNode, type NodeState, type ObjectKey, type ShardCount, type Signal } from "./network/store-node.ts";
