import type { ReplanMode } from "../deployment/replan.ts";
import type { ClusterName } from "../fields/ids.ts";

/** The progress of a re-plan. */
export const ReplanState = {
  /** A cluster is lost, but not for long enough. */
  waiting: "waiting",
  /** A user can apply the plan. */
  proposed: "proposed",
  /** Nothing can be applied now. */
  blocked: "blocked",
  /** The plan is in force. */
  applied: "applied",
} as const;
export type ReplanState = (typeof ReplanState)[keyof typeof ReplanState];

/** Why a deployment is planned again. */
export const ReplanReason = {
  clusterLost: "cluster_lost",
  /** Other clusters are better, by more than the hysteresis margin. */
  placement: "placement",
  /** The clusters stay; measurements or the number of replicas changed. */
  scale: "scale",
  /** An operator drains a cluster. */
  drain: "drain",
} as const;
export type ReplanReason = (typeof ReplanReason)[keyof typeof ReplanReason];

/** One difference between the plan in force and the new one. */
export interface ReplanChange {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
  readonly text: string;
  readonly effect?: string;
}

/** Automatic changes of the last hour, and their limits. */
export interface ReplanBudget {
  readonly deploymentUsed: number;
  readonly deploymentLimit: number;
  readonly platformUsed: number;
  readonly platformLimit: number;
}

/** The re-plan of a deployment. */
export interface ReplanStatus {
  readonly mode: ReplanMode;
  readonly state: ReplanState;
  readonly reason: ReplanReason;
  /** The reason with its inputs, and what happens next. */
  readonly message: string;
  /** When the cause began. */
  readonly since: string;
  readonly lostClusters: readonly ClusterName[];
  readonly planDigest?: string;
  readonly changes: readonly ReplanChange[];
  /** Which stored objects are lost or left behind. */
  readonly stateEffect?: string;
  /** The revision of the applied plan. */
  readonly revision?: number;
  /** When a waiting or blocked re-plan is decided again. */
  readonly retryAt?: string;
  readonly budget?: ReplanBudget;
}
