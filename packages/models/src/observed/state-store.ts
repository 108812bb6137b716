import type { ClusterName } from "../fields/ids.ts";
import type { DeploymentCondition } from "../health/condition.ts";

/** A shard that is assigned to a node and that the node does not have. */
export interface MissingShard {
  readonly nodeId: number;
  readonly collection: string;
  readonly partition: number;
}

/** How far the restart of a state store is. */
export const StoreRestartState = {
  /** Settings wait for the next restart. */
  pending: "pending",
  /** A restart would lose objects. */
  refused: "refused",
  /** The state store has members in other clusters, and it is not the turn of this one. */
  waitingForTurn: "waiting-for-turn",
  /** A node is being restarted, or its shards are not back yet. */
  restarting: "restarting",
} as const;
export type StoreRestartState = (typeof StoreRestartState)[keyof typeof StoreRestartState];

/** Why a state store restarts, or should. */
export interface StoreRestart {
  readonly state: StoreRestartState;
  readonly reason: string;
  readonly message: string;
  /** Nodes that still have to restart; one that restarts is listed until its shards are back. */
  readonly nodes: readonly number[];
}

/** The part of a state store that runs in one cluster, as the cluster reports it. */
export interface StateStoreStatus {
  readonly ready: boolean;
  readonly desiredReplicas: number;
  readonly readyReplicas: number;
  readonly shardType?: string;
  /** Whether the last write to every partition was acknowledged; absent when not known. */
  readonly writable?: boolean;
  readonly missingShards: readonly MissingShard[];
  /** Absent when no restart is needed. */
  readonly restart?: StoreRestart;
  readonly reason?: string;
  readonly message?: string;
}

/** The restart of one node of a state store with members in several clusters. */
export interface RestartTurn {
  readonly id: string;
  readonly cluster: ClusterName;
  readonly nodeId: number;
  readonly since: string;
}

/** The restarts of a state store with members in several clusters: one node at a time. */
export interface RestartProgress {
  /** The node that restarts; absent while none may. */
  readonly turn?: RestartTurn;
  /** Nodes that still wait for their turn, by cluster. */
  readonly waiting: readonly { readonly cluster: ClusterName; readonly nodeId: number }[];
  /** What the turn waits for, or why no node gets one. */
  readonly message: string;
}

/** Why the state cannot be written everywhere; undefined when it can, or when the cluster does not know. */
export function stateProblem({ writable, missingShards, message }: StateStoreStatus): string | undefined {
  const [first] = missingShards;
  if (first !== undefined) {
    const others = missingShards.length === 1 ? "" : ` and ${missingShards.length - 1} more`;
    return `State store: node ${first.nodeId} lacks the shard of partition ${first.partition} of ${first.collection}${others}`;
  }
  if (writable !== false) return undefined;
  return `State store: writes are not acknowledged${message === undefined ? "" : `: ${message}`}`;
}

/** The condition of a unit with its state: running only when the state can be written. */
export function conditionWithState(
  condition: DeploymentCondition,
  store: StateStoreStatus | undefined,
): DeploymentCondition {
  const hasProblem = store !== undefined && stateProblem(store) !== undefined;
  return condition === "running" && hasProblem ? "degraded" : condition;
}
