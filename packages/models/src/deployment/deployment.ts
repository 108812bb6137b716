import type { ClassKey, ClusterName, DeploymentKey, FunctionKey, PackageName } from "../fields/ids.ts";
import type { Enforcement, NfrRequirements, QosRequirement } from "./nfr.ts";
import type { OdgmSpec } from "./odgm.ts";
import type { ProvisionConfig } from "../package/provision.ts";
import type { TelemetryConfig } from "./telemetry.ts";

/** How far a deployment or a class runtime has come. `unknown` is for what no cluster could tell. */
export const DeploymentCondition = {
  pending: "pending",
  deploying: "deploying",
  running: "running",
  down: "down",
  deleted: "deleted",
  unknown: "unknown",
} as const;
export type DeploymentCondition = (typeof DeploymentCondition)[keyof typeof DeploymentCondition];

const SEVERITY = {
  running: 1,
  unknown: 2,
  pending: 2,
  deploying: 3,
  down: 4,
  deleted: 4,
} as const satisfies Record<DeploymentCondition, number>;

/** The condition of a whole from its parts: the worst one, the first of equals; `pending` when there are none. */
export function worstCondition(conditions: readonly DeploymentCondition[]): DeploymentCondition {
  return (
    conditions.reduce<DeploymentCondition | undefined>(
      (worst, next) => (worst === undefined || SEVERITY[next] > SEVERITY[worst] ? next : worst),
      undefined,
    ) ?? DeploymentCondition.pending
  );
}

/** A function as one deployment wants it: overrides of what the package says. */
export interface FunctionDeployment {
  readonly functionKey: FunctionKey;
  readonly description?: string;
  readonly availableLocation?: string;
  readonly qos?: QosRequirement;
  /** Overrides the deployment's own requirements for this function. */
  readonly nfr?: NfrRequirements;
  readonly provision?: ProvisionConfig;
  readonly config: Readonly<Record<string, string>>;
}

/** In which order clusters are changed. */
export const RolloutStrategy = { allAtOnce: "all-at-once", rolling: "rolling" } as const;
export type RolloutStrategy = (typeof RolloutStrategy)[keyof typeof RolloutStrategy];

/** What must be true of a cluster before the next one is changed. */
export const RolloutGate = { none: "none", accepted: "accepted", available: "available" } as const;
export type RolloutGate = (typeof RolloutGate)[keyof typeof RolloutGate];

/** What happens when a gate is not passed in time. */
export const RolloutFailure = { stop: "stop", rollBack: "roll-back" } as const;
export type RolloutFailure = (typeof RolloutFailure)[keyof typeof RolloutFailure];

/** An ordered, health-gated change over several clusters. */
export interface Rollout {
  readonly strategy: RolloutStrategy;
  readonly maxParallel?: number;
  readonly gate: RolloutGate;
  readonly onFailure: RolloutFailure;
}

/** A user's wish to run a class. */
export interface ClassDeployment {
  readonly key: DeploymentKey;
  /** Absent inside a package: the package itself. */
  readonly packageName?: PackageName;
  readonly classKey: ClassKey;
  /** Where to run; empty means: the planner chooses. */
  readonly targetClusters: readonly ClusterName[];
  /** Among which the planner may choose; empty means: all. */
  readonly availableClusters: readonly ClusterName[];
  /** Kind of environment (dev, edge, cloud); selects clusters by label when no list is given. */
  readonly environmentKind?: string;
  readonly nfr: NfrRequirements;
  readonly enforcement?: Enforcement;
  /** Template per cluster; without an entry CRM chooses. */
  readonly clusterTemplates: Readonly<Record<ClusterName, string>>;
  /** A wish, taken where it can be; an entry of `clusterTemplates` is an order. */
  readonly templateHint?: string;
  /** Empty means: every function that the class binds, as the package defines it. */
  readonly functions: readonly FunctionDeployment[];
  readonly addons?: readonly string[];
  readonly odgm?: OdgmSpec;
  readonly telemetry?: TelemetryConfig;
  /** Accept the best plan there is when the target availability is out of reach. */
  readonly allowBestEffort: boolean;
  readonly rollout?: Rollout;
}

/** What came of a plan, in short. */
export interface DeploymentSummary {
  readonly replicationFactor: number;
  readonly selectedClusters: readonly ClusterName[];
  readonly achievedQuorumAvailability?: number;
  readonly lastError?: string;
}

/** A wish together with what is known about its fulfilment. */
export interface ObservedDeployment {
  readonly deployment: ClassDeployment;
  readonly condition: DeploymentCondition;
  readonly summary?: DeploymentSummary;
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}
