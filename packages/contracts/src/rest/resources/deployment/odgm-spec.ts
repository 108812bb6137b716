import { CLUSTER_NAME, COLLECTION_NAME, COUNT_RANGE, NODE_ID_RANGE, ShardType, type OdgmSpec } from "@oaas/models";
import { z } from "zod";
import {
  choice,
  input,
  listOf,
  mapOf,
  optional,
  present,
  text,
  textOf,
  unlessEmpty,
  view,
  whole,
} from "../../reading/fields.ts";

const atLeastOne = { min: 1, max: COUNT_RANGE.max };

/** What the members of a wish about the object data grid mean; a plan has them too. */
export const ODGM_SPEC = {
  collections: "Collection names. Empty: one collection named `package.Class`.",
  partition_count: "Partitions per collection. Default: chosen by the planner.",
  replica_count: "Minimum replicas of each partition.",
  shard_type: "Replication protocol. Default: derived from consistency and replica count.",
  env_node_ids: "Node ids by cluster. Default: assigned by the planner.",
  log: "Log filter of the state store processes.",
};

/** What may be sent about the object data grid. Members that peers put here and no one reads, such as `features`, are ignored. */
export const odgmSpecInput = input(
  {
    collections: listOf(textOf(COLLECTION_NAME)),
    partition_count: optional(whole(atLeastOne)),
    replica_count: optional(whole(atLeastOne)),
    shard_type: unlessEmpty(choice(ShardType, (type) => type)),
    env_node_ids: mapOf(listOf(whole(NODE_ID_RANGE)), CLUSTER_NAME),
    log: optional(text()),
  },
  ODGM_SPEC,
).transform((wire): OdgmSpec =>
  present({
    collections: wire.collections,
    partitionCount: wire.partition_count,
    replicaCount: wire.replica_count,
    shardType: wire.shard_type,
    nodeIds: wire.env_node_ids,
    log: wire.log,
  }),
);

/** What a deployment wants of the object data grid, as it is sent. */
export const odgmSpecView = view(
  {
    collections: z.array(z.string()).readonly().optional(),
    partition_count: z.int().optional(),
    replica_count: z.int().optional(),
    shard_type: z.string().optional(),
    env_node_ids: z.record(z.string(), z.array(z.int()).readonly()).readonly().optional(),
    log: z.string().optional(),
  },
  ODGM_SPEC,
);

/** Writes a wish about the object data grid in the contract's JSON. */
export function odgmSpecToWire(odgm: OdgmSpec): z.output<typeof odgmSpecView> {
  return present({
    collections: odgm.collections.length === 0 ? undefined : odgm.collections,
    partition_count: odgm.partitionCount,
    replica_count: odgm.replicaCount,
    shard_type: odgm.shardType,
    env_node_ids: Object.keys(odgm.nodeIds).length === 0 ? undefined : odgm.nodeIds,
    log: odgm.log,
  });
}
