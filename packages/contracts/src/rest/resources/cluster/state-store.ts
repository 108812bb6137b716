import {
  COUNT_RANGE,
  StoreRestartState,
  type ClusterName,
  type MissingShard,
  type RestartProgress,
  type RestartTurn,
  type StateStoreStatus,
  type StoreRestart,
} from "@oaas/models";
import {
  array,
  boolean,
  enumeration,
  integer,
  nested,
  optional,
  required,
  resource,
  string,
  timestamp,
} from "../../reading/resource.ts";

const missingShard = resource<MissingShard>()({
  nodeId: required("node_id", "Node that lacks the shard.", integer(COUNT_RANGE)),
  collection: required("collection", "Collection.", string()),
  partition: required("partition", "Partition.", integer(COUNT_RANGE)),
});

/** Why a state store restarts, or should. */
export const storeRestart = resource<StoreRestart>()({
  state: required(
    "state",
    "`pending` (settings wait for the next restart), `refused` (a restart would lose objects), `waiting_for_turn` (members in other clusters come first) or `restarting` (one node after the other).",
    enumeration(StoreRestartState),
  ),
  reason: required("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: required("message", "Human-readable message, with the fix.", string()),
  nodes: required("nodes", "Nodes that still have to restart.", array(integer(COUNT_RANGE))),
});

/** The part of a state store that runs in one cluster. */
export const stateStoreStatus = resource<StateStoreStatus>()({
  ready: required("ready", "Whether the class runtime manager counts the state store as ready.", boolean()),
  desiredReplicas: required("desired_replicas", "Desired nodes in the cluster.", integer(COUNT_RANGE)),
  readyReplicas: required("ready_replicas", "Ready nodes in the cluster.", integer(COUNT_RANGE)),
  shardType: optional("shard_type", "Shard type; absent when the cluster does not report it.", string()),
  writable: optional(
    "writable",
    "Whether the last write to every partition was acknowledged; absent when not known.",
    boolean(),
  ),
  missingShards: required(
    "missing_shards",
    "Shards that are assigned to a node of the cluster and that it does not have.",
    array(nested(missingShard)),
  ),
  restart: optional("restart", "Why nodes restart, or should; absent when they need not.", nested(storeRestart)),
  reason: optional("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: optional("message", "Human-readable message.", string()),
});

const restartTurn = resource<RestartTurn>()({
  id: required("id", "Id of the turn, as granted to the class runtime manager.", string()),
  cluster: required("cluster", "Cluster of the node.", string<ClusterName>()),
  nodeId: required("node_id", "Node that restarts.", integer(COUNT_RANGE)),
  since: required("since", "When the turn began.", timestamp()),
});
export const restartTurnToWire = restartTurn.toJson;

const waitingNode = resource<RestartProgress["waiting"][number]>()({
  cluster: required("cluster", "Cluster of the node.", string<ClusterName>()),
  nodeId: required("node_id", "Node that waits.", integer(COUNT_RANGE)),
});

/** The restarts of a state store with members in several clusters. */
export const restartProgress = resource<RestartProgress>()({
  turn: optional("turn", "The node that restarts; absent while none may.", nested(restartTurn)),
  waiting: required("waiting", "Nodes that still wait for their turn.", array(nested(waitingNode))),
  message: required("message", "What the turn waits for, or why no node gets one.", string()),
});
