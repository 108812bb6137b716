import { ShardType } from "@oaas/models";
import { z } from "zod";
import { keyedList, mapOf, setList } from "../collections.ts";
import { onlyOneOf, withRules } from "../rule.ts";
import {
  bindingName,
  collectionName,
  count,
  functionKey,
  odgmId,
  timestamp,
  moduleUrl,
  positive,
  shortName,
  text,
  stringMap,
  word,
} from "./scalars.ts";

/** Maximum replicas of a partition, and so nodes; also bounds the cost of CEL rules. */
export const MAX_COPIES = 100;

/** Replication of partitions: raft by consensus, mst by merging, the other three without replicas. */
export const shardType = z.enum(Object.values(ShardType));

/** Settings of one collection. */
export const collectionSettings = {
  partition_count: positive
    .max(1024)
    .optional()
    .describe("Number of partitions. Default: derived from the throughput."),
  replica_count: positive.max(MAX_COPIES).optional().describe("Replicas of each partition."),
  shard_type: shardType.optional().describe("Shard type of this collection."),
  persistence_mode: word("persistent", "ephemeral").optional().describe("Whether the data survives the pod."),
  access_patterns: z
    .array(word("read_write", "read_only", "write_only", "batch_read", "batch_write"))
    .max(5)
    .optional()
    .describe(
      "How functions use it. batch_read and batch_write: at least four partitions, unless partition_count or the shape of the state says otherwise. Only reading or only writing patterns: the access_mode of functions that state none.",
    ),
};

/** A collection by name, or with settings. */
const collection = z.union([
  collectionName,
  z.object({ name: collectionName.describe("Collection name."), ...collectionSettings }),
]);

/** A function triggered by state changes. */
const eventTrigger = z.object({
  function_key: functionKey.describe("Key of the function to run."),
  trigger_type: word("state_change", "create", "update", "delete", "timer", "manual")
    .prefault("state_change")
    .describe("Trigger type."),
  collection_filters: z
    .array(z.string().min(1).max(253))
    .max(64)
    .optional()
    .describe("Collection names, with * as a wildcard. Default: all."),
  async_execution: z.boolean().default(false).describe("Whether the function runs asynchronously."),
});

/** Triggers of a function or class. */
export const eventTriggers = z.array(eventTrigger).max(64);

/** Event processing of the state store. */
export const eventProcessing = z.object({
  enabled: z.boolean().optional().describe("Whether triggers run. Default: true when there are any."),
  max_trigger_depth: positive.max(100).optional().describe("Maximum length of a chain of triggers."),
  trigger_timeout_ms: positive.optional().describe("Timeout of one trigger, in milliseconds."),
  event_triggers: eventTriggers.optional().describe("Event triggers."),
  batch_processing: z
    .object({
      enabled: z.boolean().default(true).describe("Whether events are processed in batches."),
      batch_size: positive.default(100).describe("Events per batch."),
      batch_timeout_ms: positive.default(1000).describe("Maximum wait for a full batch, in milliseconds."),
    })
    .optional()
    .describe("Batch processing of events."),
});

const functionRoute = z.object({
  url: z.string().max(2048).describe("Function URL, http:// or wasm://; filled in when empty."),
  wasm_module_url: moduleUrl.optional().describe("URL of the module of a wasm:// route."),
  stateless: z.boolean().optional().describe("Whether the function does not access state."),
  standby: z.boolean().optional().describe("Whether the route is a standby for failover."),
  active_group: z.array(odgmId).max(MAX_COPIES).optional().describe("Nodes that may invoke the function."),
  function_key: functionKey.optional().describe("Function key."),
});

const shardAssignment = withRules(
  z.object({
    primary: odgmId.optional().describe("Node id of the first replica, which creates the shard; or its shard id."),
    replica: z.array(odgmId).max(MAX_COPIES).optional().describe("Node ids of the replicas."),
    shard_ids: z.array(odgmId).max(MAX_COPIES).optional().describe("Shard ids, one per replica."),
  }),
  {
    cel: "!has(self.primary) || !has(self.shard_ids) || self.primary in self.shard_ids || has(self.replica) && self.replica.size() > 0 && self.primary == self.replica[0]",
    message: "primary must be the first of replica, or one of shard_ids",
    at: "primary",
    holds: ({ primary, replica = [], shard_ids: ids }) =>
      primary === undefined || ids === undefined || ids.includes(primary) || replica[0] === primary,
  },
);

/** The state store of a class. Collection names are sufficient; the other fields have derived defaults. */
export const odgmConfig = withRules(
  z.object({
    enabled: z.boolean().optional().describe("false disables the state store, regardless of addons."),
    collections: z
      .array(collection)
      .max(64)
      .optional()
      .describe("Collections, each a name or an object with name and settings."),
    partition_count: positive.max(1024).optional().describe("Default number of partitions."),
    replica_count: positive.max(MAX_COPIES).optional().describe("Default number of replicas."),
    replication_factor: positive.max(MAX_COPIES).optional().describe("Alias of replica_count."),
    shard_type: shardType.optional().describe("Default shard type."),
    cluster_id: shortName
      .optional()
      .describe("Cluster id of the state store. Default: derived from the object's name."),
    node_id_prefix: shortName
      .optional()
      .describe(
        "Part of the text that generated node ids are derived from, so that equal classes in several clusters get different ids. A change gives every node a new id. Ids that the package manager planned do not depend on it.",
      ),
    node_id: odgmId.optional().describe("Node id in this cluster."),
    env_node_ids: mapOf(z.array(odgmId).max(MAX_COPIES), 64).optional().describe("Node ids by environment."),
    collection_assignments: mapOf(z.array(shardAssignment).max(1024), 64)
      .optional()
      .describe("Shard assignments by collection, as planned."),
    invocations: z
      .object({
        fn_routes: mapOf(functionRoute, 256).optional().describe("Routes by binding name."),
        disabled_fn: z.array(bindingName).max(256).optional().describe("Disabled bindings."),
      })
      .optional()
      .describe("Routes from the state store to the functions."),
    options: stringMap.optional().describe("Options passed to the state store."),
    log: text.optional().describe("Log filter of the state store, e.g. info,openraft=warn."),
    event_processing: eventProcessing.optional().describe("Event triggers on state changes."),
    allow_layout_change: z
      .boolean()
      .optional()
      .describe(
        "Allows a running class to change its collections, partitions, copies, shard type or nodes. Stored objects are lost.",
      ),
    allow_restart: z
      .boolean()
      .optional()
      .describe(
        "Allows a restart of the state store that loses objects, and restarts it for settings that wait for one.",
      ),
  }),
  onlyOneOf("replica_count", "replication_factor"),
);

const health = z.string().max(64);

/** Status reported by the state store. */
export const odgmClusterStatus = z.object({
  cluster_id: z.string().max(253).optional().describe("Cluster id."),
  ready: z.boolean().optional().describe("Whether all partitions are served."),
  service: z.string().max(253).optional().describe("Host and port passed to functions."),
  desired_replicas: count.optional().describe("Desired pods."),
  ready_replicas: count.optional().describe("Ready pods."),
  updated_replicas: count.optional().describe("Ready pods of the desired revision."),
  shard_type: shardType.optional().describe("Shard type in use."),
  reason: z.string().max(1024).optional().describe("Machine-readable reason why it is not ready."),
  message: text.optional().describe("Human-readable message."),
  last_checked: timestamp.optional().describe("Time of the last check."),
  writable: z.boolean().optional().describe("Whether the last write to every partition was acknowledged."),
  missing_shards: z
    .array(
      z.object({
        node_id: odgmId.describe("Node that lacks the shard."),
        collection: z.string().max(253).describe("Collection."),
        partition: z.int().min(0).describe("Partition."),
      }),
    )
    .max(64)
    .optional()
    .describe("Shards that are assigned to a node of this cluster and that it does not have."),
  restart: z
    .object({
      state: z
        .enum(["Pending", "Refused", "WaitingForTurn", "Restarting"])
        .describe(
          "Pending: settings wait for the next restart. Refused: a restart would lose objects. WaitingForTurn: members in other clusters come first. Restarting: one member after the other.",
        ),
      reason: z.string().max(64).describe("Machine-readable reason, e.g. RoutesChanged or ShardMissing."),
      message: text.describe("Human-readable message, with the fix."),
      nodes: z.array(odgmId).max(MAX_COPIES).optional().describe("Nodes that still have to restart."),
    })
    .optional()
    .describe("Why the state store restarts, or should; absent when it need not."),
  configuration: z
    .object({
      digest: z.string().max(64).describe("Digest of the settings that are read at start."),
      since: timestamp.describe("Time of their last change; nodes that started earlier do not have them."),
    })
    .optional()
    .describe("Settings that nodes read when they start: routes, log filter and peers."),
  capabilities: setList(z.string().max(64), 32).optional().describe("Reported capabilities."),
  active_nodes: keyedList(
    z.object({
      node_id: z.string().max(253).describe("Node id, from the planned assignment of its shards; else its address."),
      address: z.string().max(253).optional().describe("Host and port."),
      status: health.optional().describe("serving, or idle without shards."),
      last_heartbeat: timestamp.optional().describe("Time of the last response."),
    }),
    "node_id",
    MAX_COPIES,
  )
    .optional()
    .describe("Nodes that responded to the last check."),
  collections_status: keyedList(
    z.object({
      name: z.string().max(253).describe("Collection name."),
      partition_count: count.optional().describe("Desired partitions."),
      replica_count: count.optional().describe("Replicas of each partition."),
      ready_shards: count.optional().describe("Shards served."),
      active_partitions: count.optional().describe("Partitions served."),
      total_objects: odgmId.optional().describe("Number of objects."),
      health_status: health.optional().describe("healthy, degraded or unknown."),
    }),
    "name",
    64,
  )
    .optional()
    .describe("Collections."),
  shard_distribution: z
    .object({
      total_shards: count.optional().describe("Desired shards; absent when other clusters serve some of them."),
      active_shards: count.optional().describe("Shards served in this cluster."),
      distribution_balance: z
        .number()
        .optional()
        .describe("Mean of shards per node divided by the maximum: 1 when even. Absent while a node does not respond."),
    })
    .optional()
    .describe("Shard distribution."),
  consensus_status: z
    .object({
      leader_node: z.string().max(253).optional().describe("Leader node."),
      term: odgmId.optional().describe("Raft term."),
      committed_index: odgmId.optional().describe("Last committed entry."),
    })
    .optional()
    .describe(
      "Refused: never set. The gRPC API of the state store has no call that returns leader, term or index, and a guess from the shards would be wrong during an election.",
    ),
});
