import type { ClusterName, ReplanChange, ReplanReason, ReplanState } from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { DeploymentRecord } from "./deployment-record.ts";

/** The new plan of a running deployment, or why there is none. */
export interface ReplanRecord {
  readonly state: Exclude<ReplanState, "waiting">;
  /** Why `state` is blocked, or a proposed plan is not applied by itself. */
  readonly code?: string;
  readonly reason: ReplanReason;
  readonly message: string;
  /** When the cause began. */
  readonly since: string;
  readonly lostClusters: readonly ClusterName[];
  /** The revision in force that the plan replaces. */
  readonly basis: number;
  /** The revision of the applied plan; of a blocked drain, the one that was undone. */
  readonly revision?: number;
  /** The request of the drain that moves the deployment. */
  readonly drainAt?: string;
  /** Absent when no plan is possible, or none differs from the one in force. */
  readonly plan?: DeploymentPlan;
  readonly changes: readonly ReplanChange[];
  readonly stateEffect?: string;
  /** When a blocked re-plan is decided again. */
  readonly retryAt?: string;
}

/** A cluster that does not answer, or reports that it is unhealthy. */
export interface ClusterOutage {
  readonly since: string;
  readonly problem: string;
}

/** An automatic change of a deployment. */
export interface AutomaticChange {
  /** See `ownerOf`. */
  readonly owner: string;
  readonly atMs: number;
}

/** The newest automatic changes of the platform, oldest first. */
export interface AutomaticChanges {
  readonly changes: readonly AutomaticChange[];
}

/** Identifies a deployment; one that is created again under the same key begins with its full budget. */
export function ownerOf({ deployment, createdAt }: Pick<DeploymentRecord, "deployment" | "createdAt">): string {
  return `${deployment.key}/${createdAt}`;
}

/** Whether a record still describes the deployment: its revision in force is the one it replaces, or the one it created. */
export function describesRevision({ state, basis, revision }: ReplanRecord, inForce: number | undefined): boolean {
  return inForce === (state === "applied" ? revision : basis);
}
