import type { DeploymentCondition, LifecyclePhase, RevisionOutcome } from "../health/condition.ts";
import type { ClusterName, DeploymentKey, UnitId } from "../fields/ids.ts";
import type { FunctionStatus } from "./class-runtime.ts";
import type { PlanPrice } from "./plan-price.ts";
import type { PlannedAvailability, PresentAvailability } from "./planned-availability.ts";
import type { DeploymentPause } from "./deployment-pause.ts";
import type { ActiveFreeze } from "./freeze-window.ts";
import type { ReplanStatus } from "./replan-status.ts";
import type { RequirementStatus } from "./requirement-status.ts";
import type { DriftCorrection } from "./drift-correction.ts";
import type { NfrCompliance, NfrRecommendation } from "./nfr-status.ts";
import type { RestartProgress, StateStoreStatus } from "./state-store.ts";

/** A value that the class runtime manager of a cluster reported. */
export interface ReportedMetric {
  /** Function key, or `odgm`; empty for the class as a whole. */
  readonly component: string;
  readonly metric: string;
  readonly value: number;
  readonly observedAt: string;
  /** Window before `observedAt`, in seconds; 0 for an instantaneous value. */
  readonly windowSeconds: number;
}

/** The status of a deployment in one cluster. */
export interface ClusterDeploymentStatus {
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  /** Namespace of the unit, if it is known. */
  readonly namespace?: string;
  readonly reachable: boolean;
  readonly condition: DeploymentCondition;
  /** Every component answers requests, possibly with an earlier revision. */
  readonly serving: boolean;
  /** The desired revision is accepted, and every ready replica runs it. */
  readonly upToDate: boolean;
  readonly phase?: LifecyclePhase;
  readonly message?: string;
  readonly functions: readonly FunctionStatus[];
  /** Absent for a class without state in this cluster. */
  readonly stateStore?: StateStoreStatus;
  readonly nfrCompliance?: NfrCompliance;
  /** Values that the cluster recommends from its measurements. */
  readonly recommendations?: readonly NfrRecommendation[];
  /** The last applied recommendation of each dimension of each component. */
  readonly lastApplied?: readonly NfrRecommendation[];
  /** The newest sample of each metric that the cluster reported. */
  readonly reportedMetrics?: readonly ReportedMetric[];
  /** Corrections of the unit and its objects, newest first. */
  readonly driftCorrections?: readonly DriftCorrection[];
  readonly error?: string;
  readonly observedAt?: string;
}

/** The progress of the saga that rolls out a deployment. */
export interface OperationStatus {
  readonly id: string;
  readonly kind: "deploy" | "delete" | "roll_back" | "repair";
  readonly state: "running" | "succeeded" | "failed" | "compensating" | "compensated" | "cancelled";
  readonly done: number;
  readonly total: number;
  readonly message?: string;
  /** Of the revision that it rolls out; absent for a deletion. */
  readonly outcome?: RevisionOutcome;
  /** When the outcome was reached; absent while the revision is only accepted. */
  readonly outcomeAt?: string;
}

/** The status of a deployment across all its clusters. */
export interface DeploymentStatus {
  readonly key: DeploymentKey;
  readonly condition: DeploymentCondition;
  readonly message?: string;
  /** The revision in force, or the last one. */
  readonly revision: number;
  /** Clusters that must run it. */
  readonly desiredClusters: number;
  /** Of the desired clusters. */
  readonly servingClusters: number;
  /** Of the desired clusters. */
  readonly upToDateClusters: number;
  readonly clusters: readonly ClusterDeploymentStatus[];
  readonly operation?: OperationStatus;
  /** Planned with independent replicas. */
  readonly achievedQuorumAvailability?: number;
  readonly plannedAvailability?: PlannedAvailability;
  /** At the prices that the registrations state now. */
  readonly price?: PlanPrice;
  /** Present while clusters are down. */
  readonly presentAvailability?: PresentAvailability;
  /** The stated requirements: their use, and whether they are measured. */
  readonly requirements?: readonly RequirementStatus[];
  /** Present while there is a new plan, or a cluster is lost. */
  readonly replan?: ReplanStatus;
  /** Present while the deployment is paused. */
  readonly pause?: DeploymentPause;
  /** Present while a freeze window of one of its clusters, or of all clusters, is active. */
  readonly freezes?: readonly ActiveFreeze[];
  /** Present while a state store with members in several clusters restarts. */
  readonly stateRestart?: RestartProgress;
  readonly updatedAt: string;
}
