import {
  CLUSTER_NAME,
  COLLECTION_NAME,
  COUNT_RANGE,
  LIST_LIMITS,
  NODE_ID_RANGE,
  ShardType,
  type OdgmSpec,
} from "@oaas/models";
import { z } from "zod";
import { withDefault } from "../../reading/fields.ts";
import {
  array,
  boolean,
  emptyIsAbsent,
  enumeration,
  integer,
  map,
  omittedByDefault,
  optional,
  resource,
  string,
  viewedAs,
} from "../../reading/resource.ts";

const positive = integer({ min: 1, max: COUNT_RANGE.max });
const nodeIdList = array(integer(NODE_ID_RANGE), LIST_LIMITS.nodeIds);
const nodeIds = { ...nodeIdList, read: withDefault(nodeIdList.read, []) };

/** Desired settings of the state store. Fields that peers send and no version uses, such as `features`, are ignored. */
export const odgmSpec = resource<OdgmSpec>()({
  collections: omittedByDefault(
    "collections",
    "Collection names. Empty: one collection named `package.Class`.",
    array(string(COLLECTION_NAME), LIST_LIMITS.collections),
    [],
  ),
  partitionCount: optional("partition_count", "Partitions per collection. Default: chosen by the planner.", positive),
  replicaCount: optional("replica_count", "Minimum replicas of each partition.", positive),
  shardType: viewedAs(
    optional(
      "shard_type",
      "Replication protocol. Default: derived from consistency and replica count.",
      emptyIsAbsent(enumeration(ShardType)),
    ),
    z.string().optional(),
  ),
  nodeIds: omittedByDefault(
    "env_node_ids",
    "Node ids by cluster. Default: assigned by the planner.",
    map(nodeIds, LIST_LIMITS.clusters, CLUSTER_NAME),
    {},
  ),
  log: optional("log", "Log filter of the state store processes.", string()),
  allowLayoutChange: optional(
    "allow_layout_change",
    "Allows a running class to change its collections, partitions, copies, shard type, clusters or nodes. Objects that are already stored are lost.",
    boolean(),
  ),
  allowRestart: optional(
    "allow_restart",
    "Allows a restart of the state store that loses objects, and restarts it for settings that wait for one.",
    boolean(),
  ),
});
