import type { ClassKey, ClusterName, DeploymentKey, FunctionKey, PackageName } from "../fields/ids.ts";
import type { DeploymentCondition } from "../health/condition.ts";
import type { Enforcement, NfrRequirements, QosRequirement } from "./nfr.ts";
import type { OdgmSpec } from "./odgm.ts";
import type { ProvisionConfig } from "../package/provision.ts";
import type { ReplanMode } from "./replan.ts";
import type { TelemetryConfig } from "./telemetry.ts";

/** Overrides of a function of the package for one deployment. */
export interface FunctionDeployment {
  readonly functionKey: FunctionKey;
  readonly description?: string;
  readonly availableLocation?: string;
  readonly qos?: QosRequirement;
  /** Overrides the requirements of the deployment for this function. */
  readonly nfr?: NfrRequirements;
  readonly provision?: ProvisionConfig;
  readonly config: Readonly<Record<string, string>>;
}

/** Order of cluster changes. */
export const RolloutStrategy = { allAtOnce: "all-at-once", rolling: "rolling" } as const;
export type RolloutStrategy = (typeof RolloutStrategy)[keyof typeof RolloutStrategy];

/** Required state of a cluster before the next one is changed. */
export const RolloutGate = { none: "none", accepted: "accepted", available: "available" } as const;
export type RolloutGate = (typeof RolloutGate)[keyof typeof RolloutGate];

/** Reaction to a gate timeout. */
export const RolloutFailure = { stop: "stop", rollBack: "roll-back" } as const;
export type RolloutFailure = (typeof RolloutFailure)[keyof typeof RolloutFailure];

/** An ordered, health-gated roll-out over several clusters. */
export interface Rollout {
  readonly strategy: RolloutStrategy;
  readonly maxParallel?: number;
  readonly gate: RolloutGate;
  readonly onFailure: RolloutFailure;
}

/** A class deployment: the desired state that a user declares. */
export interface ClassDeployment {
  readonly key: DeploymentKey;
  /** Optional inside a package, where it is the package itself. */
  readonly packageName?: PackageName;
  readonly classKey: ClassKey;
  /** Kubernetes namespace of its units in every cluster. Absent: of the package, else the default of each cluster. */
  readonly namespace?: string;
  /** Target clusters; empty: the planner chooses. */
  readonly targetClusters: readonly ClusterName[];
  /** Candidate clusters of the planner; empty: all. */
  readonly availableClusters: readonly ClusterName[];
  /** Kind of environment (dev, edge, cloud); selects clusters by label if no list is set. */
  readonly environmentKind?: string;
  readonly nfr: NfrRequirements;
  readonly enforcement?: Enforcement;
  /** Template by cluster, rejected where it is not available; without an entry CRM chooses. */
  readonly clusterTemplates: Readonly<Record<ClusterName, string>>;
  /** Preferred template, used where it is available. */
  readonly templateHint?: string;
  /** Empty: every function that the class binds, as the package defines it. */
  readonly functions: readonly FunctionDeployment[];
  readonly addons?: readonly string[];
  readonly odgm?: OdgmSpec;
  readonly telemetry?: TelemetryConfig;
  /** Accept the best plan if the target availability cannot be reached. */
  readonly allowBestEffort: boolean;
  readonly rollout?: Rollout;
  /** Default: propose. */
  readonly replan?: ReplanMode;
  /** How long a cluster must be lost before its units are moved; overrides the setting of the package manager. */
  readonly replanClusterLostSeconds?: number;
  /** An automatic re-plan may lose stored objects or leave them behind. */
  readonly replanAllowStateLoss?: boolean;
}

/** Summary of a plan. */
export interface DeploymentSummary {
  readonly replicationFactor: number;
  readonly selectedClusters: readonly ClusterName[];
  /** Namespaces of the units, as far as the plan knows them. */
  readonly namespaces?: readonly string[];
  readonly achievedQuorumAvailability?: number;
  readonly lastError?: string;
}

/** A deployment with its status. */
export interface ObservedDeployment {
  readonly deployment: ClassDeployment;
  readonly condition: DeploymentCondition;
  readonly summary?: DeploymentSummary;
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}
