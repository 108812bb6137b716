import type { DriftCorrection } from "./drift-correction.ts";
import type { DeploymentCondition } from "../health/condition.ts";
import type { ClusterName, FunctionKey, UnitId } from "../fields/ids.ts";
import type { NfrCompliance, NfrRecommendation } from "./nfr-status.ts";
import type { StateStoreStatus } from "./state-store.ts";

/** Coarser phase that PM reports. */
export const RuntimePhase = {
  resourceProvisioning: "resource-provisioning",
  running: "running",
  failed: "failed",
  unknown: "unknown",
} as const;
export type RuntimePhase = (typeof RuntimePhase)[keyof typeof RuntimePhase];

/** A Kubernetes object that belongs to a class runtime. */
export interface ResourceReference {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Distinguishes kinds with the same name. */
  readonly apiVersion?: string;
}

/** Status of a function: its URL and readiness. */
export interface FunctionStatus {
  readonly functionKey: FunctionKey;
  readonly service: string;
  readonly port: number;
  readonly predictedUrl: string;
  readonly observedUrl?: string;
  readonly template: string;
  readonly condition?: DeploymentCondition;
  readonly ready?: boolean;
  /** Requests are answered, possibly by an earlier revision or by fewer replicas. */
  readonly serving?: boolean;
  readonly desiredReplicas?: number;
  readonly readyReplicas?: number;
  /** Ready replicas of the desired revision. */
  readonly updatedReplicas?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Status of a class runtime as its cluster reports it. */
export interface ClassRuntimeStatus {
  readonly condition: DeploymentCondition;
  readonly phase: RuntimePhase;
  /** Every component answers requests, possibly with an earlier revision. */
  readonly serving?: boolean;
  /** Every ready replica runs the desired revision. */
  readonly upToDate?: boolean;
  readonly message?: string;
  readonly lastUpdated: string;
  readonly functions?: readonly FunctionStatus[];
  /** Absent for a class without state in this cluster. */
  readonly stateStore?: StateStoreStatus;
  /** Values that the cluster recommends from its measurements. */
  readonly recommendations?: readonly NfrRecommendation[];
  /** The last applied recommendation of each dimension of each component. */
  readonly lastApplied?: readonly NfrRecommendation[];
  readonly lastAppliedAt?: string;
  /** Corrections of its objects, newest first. */
  readonly driftCorrections?: readonly DriftCorrection[];
}

/** A unit as its cluster reports it. */
export interface ClassRuntime {
  readonly id: UnitId;
  readonly unitId: UnitId;
  readonly packageName: string;
  /** `package.Class`. */
  readonly classKey: string;
  /** Namespace of the unit in the cluster. */
  readonly targetEnvironment: string;
  /** Name of the cluster in PM. */
  readonly cluster?: ClusterName;
  readonly status?: ClassRuntimeStatus;
  readonly nfrCompliance?: NfrCompliance;
  readonly resourceRefs: readonly ResourceReference[];
  /** The deployment that it belongs to, if its manager reports it. */
  readonly deploymentKey?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly partitionCount: number;
}
