import { ShardType } from "@oaas/models";
import { z } from "zod";
import { keyedList, mapOf, setList } from "../collections.ts";
import { onlyOneOf, withRules } from "../rule.ts";
import {
  bindingName,
  collectionName,
  count,
  functionKey,
  gridId,
  moment,
  moduleUrl,
  positive,
  shortName,
  text,
  textByName,
  word,
} from "./scalars.ts";

/** Most copies of a partition, and so most nodes; it also keeps the rules over them within the API server's budget. */
export const MAX_COPIES = 100;

/** How a collection's partitions keep their copies: raft agrees, mst merges, the other three keep one copy. */
export const shardType = z.enum(Object.values(ShardType));

/** Settings of one collection. */
export const collectionSettings = {
  partition_count: positive.max(1024).optional().describe("Partitions; derived from the throughput when absent."),
  replica_count: positive.max(MAX_COPIES).optional().describe("Copies of each partition."),
  shard_type: shardType.optional().describe("Overrides the shard type for this collection."),
  persistence_mode: word("persistent", "ephemeral").optional().describe("Whether it survives the pod."),
  access_patterns: z
    .array(word("read_write", "read_only", "write_only", "batch_read", "batch_write"))
    .max(5)
    .optional()
    .describe("How functions use it. Accepted, not used yet."),
};

/** A collection by name alone, or with its settings; both forms are in use. */
const collection = z.union([
  collectionName,
  z.object({ name: collectionName.describe("Name of the collection."), ...collectionSettings }),
]);

/** A function that runs when state changes. */
const eventTrigger = z.object({
  function_key: functionKey.describe("Function to run."),
  trigger_type: word("state_change", "create", "update", "delete", "timer", "manual")
    .prefault("state_change")
    .describe("What sets it off."),
  collection_filters: z
    .array(z.string().min(1).max(253))
    .max(64)
    .optional()
    .describe("Names of collections, * as wildcard; all when absent."),
  async_execution: z.boolean().default(false).describe("Whether the change waits for the function."),
});

/** Triggers of a function or class. */
export const eventTriggers = z.array(eventTrigger).max(64);

/** Event processing of the data grid. */
export const eventProcessing = z.object({
  enabled: z.boolean().optional().describe("Whether triggers run; true when there are any."),
  max_trigger_depth: positive.max(100).optional().describe("How many triggers may set off each other."),
  trigger_timeout_ms: positive.optional().describe("Longest run of one trigger, in milliseconds."),
  event_triggers: eventTriggers.optional().describe("The triggers."),
  batch_processing: z
    .object({
      enabled: z.boolean().default(true).describe("Whether events are handled in batches."),
      batch_size: positive.default(100).describe("Events per batch."),
      batch_timeout_ms: positive.default(1000).describe("Longest wait for a batch to fill, in milliseconds."),
    })
    .optional()
    .describe("Batching of events."),
});

const functionRoute = z.object({
  url: z.string().max(2048).describe("Address of the function, http:// or wasm://; empty to have it filled in."),
  wasm_module_url: moduleUrl.optional().describe("Where the module of a wasm:// route is fetched."),
  stateless: z.boolean().optional().describe("Whether the function leaves state alone."),
  standby: z.boolean().optional().describe("Whether it only waits for fail-over."),
  active_group: z.array(gridId).max(MAX_COPIES).optional().describe("Nodes that may invoke it."),
  function_key: functionKey.optional().describe("Function it leads to."),
});

const shardAssignment = withRules(
  z.object({
    primary: gridId.optional().describe("Shard id of the primary."),
    replica: z.array(gridId).max(MAX_COPIES).optional().describe("Node ids that hold a copy."),
    shard_ids: z.array(gridId).max(MAX_COPIES).optional().describe("Shard ids, one per copy."),
  }),
  {
    cel: "!has(self.primary) || !has(self.shard_ids) || self.primary in self.shard_ids",
    message: "primary must be one of shard_ids",
    at: "primary",
    holds: ({ primary, shard_ids: ids }) => primary === undefined || ids === undefined || ids.includes(primary),
  },
);

/** The class's state store: names of collections are enough; every other field has a derived default. */
export const odgmConfig = withRules(
  z.object({
    enabled: z.boolean().optional().describe("false keeps the class without a state store whatever addons say."),
    collections: z
      .array(collection)
      .max(64)
      .optional()
      .describe("Collections, each a name or an object with name and settings."),
    partition_count: positive.max(1024).optional().describe("Partitions of collections that state none."),
    replica_count: positive.max(MAX_COPIES).optional().describe("Copies of collections that state none."),
    replication_factor: positive.max(MAX_COPIES).optional().describe("Another spelling of replica_count."),
    shard_type: shardType.optional().describe("Shard type of collections that state none."),
    cluster_id: shortName.optional().describe("Id of the grid's cluster; derived from the object's name when absent."),
    node_id_prefix: shortName.optional().describe("Prefix of the data grid's node names. Accepted, not used yet."),
    node_id: gridId.optional().describe("Id of this cluster's grid node."),
    env_node_ids: mapOf(z.array(gridId).max(MAX_COPIES), 64)
      .optional()
      .describe("Node ids by environment, for members."),
    collection_assignments: mapOf(z.array(shardAssignment).max(1024), 64)
      .optional()
      .describe("Shards of each partition, by collection, as the planner fixed them."),
    invocations: z
      .object({
        fn_routes: mapOf(functionRoute, 256).optional().describe("Routes by name of the binding."),
        disabled_fn: z.array(bindingName).max(256).optional().describe("Bindings that may not be invoked."),
      })
      .optional()
      .describe("How the grid reaches the functions."),
    options: textByName.optional().describe("Options passed on to the grid."),
    log: text.optional().describe("Log filter of the grid, e.g. info,openraft=warn."),
    event_processing: eventProcessing.optional().describe("Triggers on changes of state."),
  }),
  onlyOneOf("replica_count", "replication_factor"),
);

const health = z.string().max(64);

/** What the grid says about itself. */
export const odgmClusterStatus = z.object({
  cluster_id: z.string().max(253).optional().describe("Id of the cluster."),
  ready: z.boolean().optional().describe("Whether it serves all partitions."),
  service: z.string().max(253).optional().describe("Host and port functions are given."),
  desired_replicas: count.optional().describe("Pods wanted."),
  ready_replicas: count.optional().describe("Pods ready."),
  shard_type: shardType.optional().describe("Shard type in use."),
  reason: z.string().max(1024).optional().describe("Why it is not ready, in one word."),
  message: text.optional().describe("Why, in a sentence."),
  last_checked: moment.optional().describe("When it was asked last."),
  capabilities: setList(z.string().max(64), 32).optional().describe("What it says it can do."),
  active_nodes: keyedList(
    z.object({
      node_id: z.string().max(253).describe("Id."),
      address: z.string().max(253).optional().describe("Address."),
      status: health.optional().describe("Its state in its own word."),
      last_heartbeat: moment.optional().describe("When it was heard last."),
    }),
    "node_id",
    MAX_COPIES,
  )
    .optional()
    .describe("Nodes."),
  collections_status: keyedList(
    z.object({
      name: z.string().max(253).describe("Collection."),
      partition_count: count.optional().describe("Partitions wanted."),
      replica_count: count.optional().describe("Copies of each."),
      ready_shards: count.optional().describe("Shards served."),
      active_partitions: count.optional().describe("Partitions served."),
      total_objects: gridId.optional().describe("Objects held."),
      health_status: health.optional().describe("healthy, degraded or unknown."),
    }),
    "name",
    64,
  )
    .optional()
    .describe("Collections."),
  shard_distribution: z
    .object({
      total_shards: count.optional().describe("Shards wanted."),
      active_shards: count.optional().describe("Shards served."),
      distribution_balance: z.number().optional().describe("1 when spread evenly."),
    })
    .optional()
    .describe("Shards."),
  consensus_status: z
    .object({
      leader_node: z.string().max(253).optional().describe("Leader."),
      term: gridId.optional().describe("Term."),
      committed_index: gridId.optional().describe("Last committed entry."),
    })
    .optional()
    .describe("State of the consensus, with shard type raft."),
});
