import type { Violation } from "@oaas/foundation";
import {
  DEFAULT_AVAILABILITY,
  type ClassDeployment,
  type ClassKey,
  type ClusterHealth,
  type ClusterName,
  type DeploymentKey,
  type Enforcement,
  type FunctionBinding,
  type FunctionKey,
  type FunctionType,
  type NfrRequirements,
  type Package,
  type PackageName,
  type ProvisionConfig,
  type Rollout,
  type ShardType,
  type StateSpecification,
  type TelemetryConfig,
  type UnitId,
} from "@oaas/models";

/** How the availability of several replicas follows from that of each: a majority must be up, or any one of them. */
export type PlannerAlgorithm = "quorum" | "independent";

/** What the operator set for every plan. */
export interface PlannerSettings {
  /** Target where a deployment states none. */
  readonly defaultAvailability: number;
  /** The most replicas that the planner asks for (`PLANNER_MAX_REPLICAS`). */
  readonly maxReplicas: number;
  readonly algorithm: PlannerAlgorithm;
  /** The share of downtime that a re-plan must save before anything that runs is moved, 0 to 1. */
  readonly hysteresisMargin: number;
  /** What one replica is assumed to carry until it was measured. */
  readonly rpsPerReplica: number;
  /** A cluster whose last reading is older is not chosen by the planner; one that the user named is. */
  readonly maxReadingAgeMs: number;
  /** The label of a cluster that `target_env` is compared with. */
  readonly environmentLabel: string;
}

export const DEFAULT_PLANNER_SETTINGS: PlannerSettings = {
  defaultAvailability: DEFAULT_AVAILABILITY,
  maxReplicas: 50,
  algorithm: "quorum",
  hysteresisMargin: 0.1,
  rpsPerReplica: 1000,
  maxReadingAgeMs: 120_000,
  environmentLabel: "env",
};

/** A cluster that PM knows, with what PM knows about it. */
export interface CandidateCluster {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  /** The newest reading there ever was, however old. */
  readonly reading?: ClusterHealth;
  readonly readingAgeMs?: number;
  /** Why the last attempt to read its health failed; absent when it succeeded. */
  readonly problem?: string;
  readonly breaker: "closed" | "half-open" | "open";
  /** Replicas per function that its CRM recommends from what it measured. */
  readonly recommendedReplicas?: Readonly<Record<string, number>>;
}

/** What should be assumed about the world instead of what is known. */
export interface WhatIf {
  readonly clustersDown?: readonly ClusterName[];
  /** Another target. */
  readonly availability?: number;
  /** Another availability of single clusters. */
  readonly clusterAvailability?: Readonly<Record<string, number>>;
}

/** Everything that a plan depends on. The order of clusters does not matter. */
export interface PlanInput {
  readonly package: Package;
  readonly packageRevision: number;
  readonly deployment: ClassDeployment;
  readonly clusters: readonly CandidateCluster[];
  readonly settings: PlannerSettings;
  /** The plan in force, which is kept unless another one gains more than the margin. */
  readonly previous?: DeploymentPlan;
  readonly whatIf?: WhatIf;
}

/** One consideration: a stable word for programs, a sentence for people. */
export interface Reason {
  readonly code: string;
  readonly text: string;
}

/** What was made of one cluster, and what speaks for and against it. */
export interface ClusterVerdict {
  readonly cluster: ClusterName;
  readonly chosen: boolean;
  readonly availability?: number;
  readonly readingAgeMs?: number;
  readonly reasonsFor: readonly Reason[];
  readonly reasonsAgainst: readonly Reason[];
}

/** One step of a plan: the rule, what it was given, what it gave, and what would change it. */
export interface Decision {
  readonly rule: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly wouldChange?: string;
}

/** A function with everything that is the same in every cluster. */
export interface FunctionSpec {
  readonly functionKey: FunctionKey;
  readonly functionType: FunctionType;
  readonly description?: string;
  readonly availableLocation?: string;
  readonly nfr: NfrRequirements;
  readonly provision: ProvisionConfig;
  readonly config: Readonly<Record<string, string>>;
}

/** What every unit of a deployment says alike; kept once, however many clusters there are. */
export interface SharedSpec {
  readonly deploymentKey: DeploymentKey;
  readonly packageName: PackageName;
  readonly packageRevision: number;
  readonly classKey: ClassKey;
  readonly functions: readonly FunctionSpec[];
  readonly bindings: readonly FunctionBinding[];
  readonly nfr: NfrRequirements;
  readonly state?: StateSpecification;
  readonly enforcement?: Enforcement;
  readonly addons?: readonly string[];
  readonly templateHint?: string;
  readonly telemetry?: TelemetryConfig;
  readonly environmentKind?: string;
}

/** Why a function has the scale it has. */
export type ScaleBasis = "availability" | "throughput" | "measured" | "user" | "none";

/** The scale of one function in one cluster. */
export interface PlannedFunction {
  readonly functionKey: FunctionKey;
  readonly minScale: number;
  readonly maxScale?: number;
  readonly basis: ScaleBasis;
  readonly reason: string;
}

/** What is particular to the unit of one cluster. */
export interface PlannedUnit {
  readonly unitId: UnitId;
  readonly cluster: ClusterName;
  readonly template?: string;
  readonly functions: readonly PlannedFunction[];
}

/** Who holds one partition: node ids, and one shard id for each of them, of which the first is the primary. */
export interface ShardAssignment {
  readonly primary: number;
  readonly replica: readonly number[];
  readonly shardIds: readonly number[];
}

/** The object data grid of a deployment over all its clusters. */
export interface PlannedOdgm {
  readonly collections: readonly string[];
  readonly partitionCount: number;
  readonly replicaCount: number;
  /** Absent: each CRM chooses, by a rule over what all of them are sent alike. */
  readonly shardType?: ShardType;
  readonly log: string;
  readonly nodeIds: Readonly<Record<string, readonly number[]>>;
  readonly assignments: Readonly<Record<string, readonly ShardAssignment[]>>;
}

/** What the sizes of a plan answer to; the same again lets a re-plan keep what runs. */
export interface SizingBasis {
  readonly target: number;
  readonly algorithm: PlannerAlgorithm;
  readonly strong: boolean;
  /** Replicas that the user asked for at least. */
  readonly atLeast: number;
}

/** What would be done, with every id fixed and every choice explained. Plain JSON, so that it can be stored. */
export interface DeploymentPlan {
  /** Stands for everything that would be done, and for nothing else: not for readings, ages or wording. */
  readonly digest: string;
  readonly sizing: SizingBasis;
  /** That a quorum of replicas is up, as today's readings say. */
  readonly achievedAvailability: number;
  /** The target is out of reach and the deployment accepts the best there is. */
  readonly bestEffort: boolean;
  readonly replicas: number;
  readonly clusters: readonly ClusterVerdict[];
  readonly shared: SharedSpec;
  readonly units: readonly PlannedUnit[];
  readonly odgm?: PlannedOdgm;
  readonly rollout?: Rollout;
  readonly decisions: readonly Decision[];
}

/** A target that is missed, and what can be reached of it. */
export interface LowerTarget {
  /** `class`, or the key of the function whose own target it is. */
  readonly subject: string;
  readonly availability: number;
}

/** One change that would make a target reachable, checked by planning with it. */
export type Remedy =
  | { readonly kind: "lower-target"; readonly targets: readonly LowerTarget[]; readonly text: string }
  | { readonly kind: "raise-cap"; readonly maxReplicas: number; readonly text: string }
  | { readonly kind: "add-cluster"; readonly availability: number; readonly text: string }
  | { readonly kind: "restore-cluster"; readonly cluster: ClusterName; readonly text: string }
  | { readonly kind: "leave-out"; readonly clusters: readonly ClusterName[]; readonly text: string }
  | { readonly kind: "lower-replica-count"; readonly replicaCount: number; readonly text: string }
  | { readonly kind: "allow-best-effort"; readonly text: string };

/** What is refused, and what was found out on the way. */
interface RefusalBase {
  /** The whole story in words, safe to show outside. */
  readonly message: string;
  readonly clusters: readonly ClusterVerdict[];
}

/** Why there is no plan. */
export type PlanRefusal = RefusalBase &
  (
    | { readonly kind: "invalid"; readonly violations: readonly Violation[] }
    | { readonly kind: "disabled"; readonly subject: string }
    | { readonly kind: "no-cluster"; readonly subject: string }
    | {
        readonly kind: "no-usable-cluster";
        readonly unusable: readonly ClusterName[];
        /** Only because the question assumes so: waiting would not help. */
        readonly assumed: boolean;
      }
    | {
        readonly kind: "out-of-reach";
        /** `class`, or the key of the function whose own target it is. */
        readonly subject: string;
        readonly target: number;
        /** Absent when no count within the cap is allowed at all. */
        readonly best?: { readonly availability: number; readonly replicas: number };
        readonly remedies: readonly Remedy[];
      }
    | {
        readonly kind: "throughput-out-of-reach";
        readonly subject: string;
        readonly neededReplicas: number;
        readonly maxReplicas: number;
      }
  );
