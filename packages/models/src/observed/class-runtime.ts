import type { DeploymentCondition } from "../deployment/deployment.ts";
import type { ClusterName, FunctionKey, UnitId } from "../fields/ids.ts";

/** The life of a class runtime in its cluster, as its resource shows it. */
export const LifecyclePhase = {
  pending: "pending",
  applying: "applying",
  progressing: "progressing",
  available: "available",
  degraded: "degraded",
  deleting: "deleting",
} as const;
export type LifecyclePhase = (typeof LifecyclePhase)[keyof typeof LifecyclePhase];

/** The coarser phase that PM reports. */
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
}

/** One function of a class runtime: where it answers and whether it is ready. */
export interface FunctionStatus {
  readonly functionKey: FunctionKey;
  readonly service: string;
  readonly port: number;
  readonly predictedUrl: string;
  readonly observedUrl?: string;
  readonly template: string;
  readonly ready?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Whether requirements are met, one word each. */
export interface NfrCompliance {
  readonly overall: string;
  readonly throughput?: string;
  readonly latency?: string;
  readonly availability?: string;
  readonly lastChecked: string;
}

/** What a cluster says about a class runtime. */
export interface ClassRuntimeStatus {
  readonly condition: DeploymentCondition;
  readonly phase: RuntimePhase;
  readonly message?: string;
  readonly lastUpdated: string;
  readonly functions?: readonly FunctionStatus[];
}

/** One unit as a cluster reports it. */
export interface ClassRuntime {
  readonly id: UnitId;
  readonly unitId: UnitId;
  readonly packageName: string;
  /** `package.Class`. */
  readonly classKey: string;
  /** The cluster's own word for where it runs: its namespace. */
  readonly targetEnvironment: string;
  /** The name under which PM knows the cluster. */
  readonly cluster?: ClusterName;
  readonly status?: ClassRuntimeStatus;
  readonly nfrCompliance?: NfrCompliance;
  readonly resourceRefs: readonly ResourceReference[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly partitionCount: number;
}
