import type { ClusterName, DeploymentKey } from "../fields/ids.ts";

/** The progress of a deployment in a cluster that is drained. */
export const DrainedUnitState = {
  /** Another deployment moves first. */
  waiting: "waiting",
  /** Its replacement is not available yet, or the unit is being removed. */
  moving: "moving",
  /** It cannot move; the message has the remedy. */
  blocked: "blocked",
} as const;
export type DrainedUnitState = (typeof DrainedUnitState)[keyof typeof DrainedUnitState];

/** A deployment that still has a unit in the cluster. */
export interface DrainedUnit {
  readonly deployment: DeploymentKey;
  readonly state: DrainedUnitState;
  readonly message: string;
}

/** The progress of a drain. */
export interface DrainProgress {
  readonly cluster: ClusterName;
  /** `none`: no drain was requested. */
  readonly state: "none" | "draining" | "blocked" | "drained";
  readonly requestedBy?: string;
  readonly requestedAt?: string;
  readonly remaining: readonly DrainedUnit[];
  /** Of all, when `remaining` has only some of them. */
  readonly remainingCount?: number;
}
