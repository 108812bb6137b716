import type { ComplianceStatus } from "../compliance.ts";
import type { Lane, Proposal } from "../enforcement.ts";
import type { DecisionRecord } from "../policy/record.ts";

/**
 * recorded: what would have been decided on the recorded samples, which do not react to the decisions. simulated: the
 * recorded load on a model of the component, which reacts.
 */
export type BacktestMode = "recorded" | "simulated";

/** A change that the policy decided. */
export interface BacktestAction extends Proposal {
  readonly atMs: number;
  readonly lane: Lane;
  readonly action: "apply" | "revert";
  /** Why, with the numbers. */
  readonly reason: string;
  /** Absent in a simulation. */
  readonly record?: DecisionRecord;
}

/** The state at one time, for plots. */
export interface BacktestPoint {
  readonly atMs: number;
  readonly requestsPerSecond?: number;
  /** Ready replicas in the record. */
  readonly recordedReplicas?: number;
  readonly decidedReplicas: number;
  readonly compliance: ComplianceStatus;
}

/** A decision of the recorded run compared with the one of the replay. */
export interface DecisionComparison {
  readonly atMs: number;
  /** identical: same digest on the recorded samples. same: same change at the same time on other inputs. */
  readonly result: "identical" | "same" | "different";
  readonly recorded: string;
  readonly replayed: string;
}

/** The result for one component. */
export interface Backtest {
  readonly component: string;
  readonly mode: BacktestMode;
  readonly fromMs: number;
  readonly toMs: number;
  readonly actions: readonly BacktestAction[];
  readonly points: readonly BacktestPoint[];
  /** Time in which a requirement was violated, or could not be judged. In the recorded mode: as recorded. */
  readonly violatedMinutes: number;
  readonly unknownMinutes: number;
  readonly replicaHours: number;
  /** Absent when the replicas were not recorded. */
  readonly recordedReplicaHours?: number;
  readonly changes: number;
  readonly directionChanges: number;
  /** The decisions of the recorded run, when the recording has them. */
  readonly comparisons: readonly DecisionComparison[];
  /** Assumptions of the simulation. */
  readonly model?: PlantModel;
}

/** The component as a queue, estimated from the record. */
export interface PlantModel {
  readonly serviceP50Ms: number;
  readonly serviceP99Ms: number;
  /** Requests that one replica serves at the same time. */
  readonly concurrency: number;
  readonly latencyTargetMs: number;
  /** What the estimates come from, one sentence each. */
  readonly sources: readonly string[];
}

/** Changes whose direction is not the one of the change before. */
export function countDirectionChanges(changes: readonly { readonly from: number; readonly to: number }[]): number {
  const directions = changes.map(({ from, to }) => Math.sign(to - from));
  return directions.filter((direction, at) => at > 0 && direction !== directions[at - 1]).length;
}
