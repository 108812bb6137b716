import type { Violation } from "@oaas/foundation";
import {
  DEFAULT_AVAILABILITY,
  type ActiveFreeze,
  type AvailabilityEstimate,
  type ClassDeployment,
  type ClusterCost,
  type ClusterName,
  type DeploymentKey,
  type FunctionBinding,
  type FunctionDeployment,
  type FunctionKey,
  type FunctionType,
  type NfrRequirements,
  type OdgmSpec,
  type Package,
  type PackageName,
  type PlannedAvailability,
  type PlanPrice,
  type ProvisionConfig,
  type Rollout,
  type ShardType,
  type StateSpecification,
  type UnitId,
} from "@oaas/models";
import type { HealthFacts } from "../clusters/cluster-health.ts";
import type { Cordon } from "../ports.ts";

/**
 * When a set of replicas is available: if a majority of them is up, or any one, each failing on its own; or by failure
 * domains, if enough replicas are in clusters, zones and nodes that are up.
 */
export type PlannerAlgorithm = "quorum" | "independent" | "domains";

/** Settings of the operator for every plan. */
export interface PlannerSettings {
  /** Target of deployments that state none. */
  readonly defaultAvailability: number;
  /** The highest replica count of a plan (`PLANNER_MAX_REPLICAS`). */
  readonly maxReplicas: number;
  readonly algorithm: PlannerAlgorithm;
  /** The assumed availability of a zone: of the one that the label `zone` of a cluster names. */
  readonly zoneAvailability: number;
  /** The share of downtime that a new plan must save before running units are moved, 0 to 1. */
  readonly hysteresisMargin: number;
  /** The assumed throughput of one replica until it is measured. */
  readonly rpsPerReplica: number;
  /** The planner does not select clusters with an older reading; clusters that the user named are used. */
  readonly maxReadingAgeMs: number;
  /** The cluster label that `target_env` selects by. */
  readonly environmentLabel: string;
}

export const DEFAULT_PLANNER_SETTINGS: PlannerSettings = {
  defaultAvailability: DEFAULT_AVAILABILITY,
  maxReplicas: 50,
  algorithm: "quorum",
  zoneAvailability: 0.9999,
  hysteresisMargin: 0.1,
  rpsPerReplica: 1000,
  maxReadingAgeMs: 120_000,
  environmentLabel: "env",
};

/** A registered cluster with its health. */
export interface CandidateCluster extends HealthFacts {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  /** Present while the cluster gets no new units. */
  readonly cordon?: Cordon;
  /** The freeze window of the cluster that is active. */
  readonly frozen?: ActiveFreeze;
  /** What its resources cost, if the registration states it. */
  readonly cost?: ClusterCost;
  /** Namespace of its units whose deployment and package state none, if the registration states it. */
  readonly defaultNamespace?: string;
  /** Namespaces that deployments may use, if the registration restricts them. */
  readonly allowedNamespaces?: readonly string[];
  /** The unit of the deployment that the cluster has or may have. */
  readonly existing?: ExistingUnit;
  /** Replicas per function that its class runtime manager recommends from measurements. */
  readonly recommendedReplicas?: Readonly<Record<string, ReplicaRecommendation>>;
}

/** Where the unit of a deployment is in a cluster. */
export interface ExistingUnit {
  /** The namespace that it was sent to; absent if the manager decided. */
  readonly namespace?: string;
  /** The namespace that its manager reports. */
  readonly reported?: string;
}

/** What determines the namespace of a unit. */
export type NamespaceOrigin = "deployment" | "package" | "running" | "cluster" | "manager";

/** The namespace of a unit; without a name the manager decides. */
export interface PlannedNamespace {
  readonly name?: string;
  readonly origin: NamespaceOrigin;
}

/** A measured need for replicas. */
export interface ReplicaRecommendation {
  readonly replicas: number;
  /** Requests per second that one replica serves within its latency requirement. */
  readonly rpsPerReplica?: number;
  /** Requests per second that callers send. */
  readonly demandRps?: number;
  /** Whether `replicas` only repeats the minimum of the last plan. */
  readonly isMinimum?: boolean;
  /** Whether it is too old to plan with. */
  readonly isOutdated: boolean;
  /** Time after which it is outdated. */
  readonly validUntil?: string;
  /** The computation in words, with its numbers. */
  readonly basis?: string;
  readonly confidence?: number;
}

/** Assumptions that replace known facts in a what-if plan. */
export interface WhatIf {
  readonly clustersDown?: readonly ClusterName[];
  /** Overrides the target. */
  readonly availability?: number;
  /** Overrides the availability of single clusters. */
  readonly clusterAvailability?: Readonly<Record<string, number>>;
}

/** All inputs of a plan. The order of clusters does not matter. */
export interface PlanInput {
  readonly package: Package;
  readonly packageRevision: number;
  readonly deployment: ClassDeployment;
  readonly clusters: readonly CandidateCluster[];
  readonly settings: PlannerSettings;
  /** The plan in force, kept unless another one gains more than the margin. */
  readonly previous?: DeploymentPlan;
  /** The deployment of the plan in force: what it states already does not require a change. */
  readonly running?: ClassDeployment;
  /**
   * Set when a running deployment is planned again without a request of its user: whether its state store may be moved,
   * which loses its objects.
   */
  readonly mayMoveState?: boolean;
  /** Collections that other deployments use. */
  readonly usedCollections?: readonly UsedCollection[];
  readonly whatIf?: WhatIf;
}

/** A collection of another deployment. */
export interface UsedCollection {
  readonly collection: string;
  readonly deployment: DeploymentKey;
  readonly clusters: readonly ClusterName[];
}

/** One reason: a stable code for programs and a text for people. */
export interface Reason {
  readonly code: string;
  readonly text: string;
}

/** The verdict on one cluster, with the reasons for and against it. */
export interface ClusterVerdict {
  readonly cluster: ClusterName;
  readonly chosen: boolean;
  readonly availability?: number;
  /** How the availability was computed; absent if it is unknown or assumed, and in plans of earlier releases. */
  readonly estimate?: AvailabilityEstimate;
  readonly readingAgeMs?: number;
  readonly reasonsFor: readonly Reason[];
  readonly reasonsAgainst: readonly Reason[];
}

/** One decision of a plan: the rule, its inputs, its outcome and what would change it. */
export interface Decision {
  readonly rule: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly wouldChange?: string;
}

/** The part of a function that is the same in every cluster: its definition, merged with the deployment's settings. */
export interface FunctionSpec extends Omit<FunctionDeployment, "qos" | "nfr" | "provision"> {
  readonly functionType: FunctionType;
  readonly nfr: NfrRequirements;
  readonly provision: ProvisionConfig;
}

/** Fields of a deployment that decide placement, scale and order, and do not reach the units as they are. */
type PlacementField =
  | "targetClusters"
  | "availableClusters"
  | "clusterTemplates"
  | "functions"
  | "odgm"
  | "allowBestEffort"
  | "rollout"
  | "replan"
  | "replanClusterLostSeconds"
  | "replanAllowStateLoss"
  | "namespace";

/** The content that all units of a deployment share, stored once: every field of a deployment except its placement. */
export interface SharedSpec extends Omit<ClassDeployment, PlacementField | "key" | "packageName"> {
  readonly deploymentKey: DeploymentKey;
  readonly packageName: PackageName;
  readonly packageRevision: number;
  readonly functions: readonly FunctionSpec[];
  readonly bindings: readonly FunctionBinding[];
  readonly state?: StateSpecification;
}

/** Whether a cluster can do something; unknown if its manager does not report it. */
export type ClusterAbility = "able" | "unable" | "unknown";

/** The requirement that determines a scale. */
export type ScaleBasis = "availability" | "throughput" | "measured" | "user" | "none";

/** The scale of one function in one cluster. */
export interface PlannedFunction {
  readonly functionKey: FunctionKey;
  readonly minScale: number;
  readonly maxScale?: number;
  readonly basis: ScaleBasis;
  readonly reason: string;
}

/** The unit of one cluster, without the shared content. */
export interface PlannedUnit {
  readonly unitId: UnitId;
  readonly cluster: ClusterName;
  /** Absent where the manager decides, and in plans of earlier releases. */
  readonly namespace?: string;
  /** Not part of the digest. Absent in plans of earlier releases. */
  readonly namespaceOrigin?: NamespaceOrigin;
  readonly template?: string;
  readonly functions: readonly PlannedFunction[];
}

/** The nodes of one partition, with one shard id each. */
export interface ShardAssignment {
  /** The node id of the first replica, which creates the shard; its shard id in assignments of earlier releases. */
  readonly primary: number;
  readonly replica: readonly number[];
  readonly shardIds: readonly number[];
}

/** The object data grid of a deployment over all its clusters. */
export interface PlannedOdgm
  extends
    Required<Omit<OdgmSpec, "shardType" | "nodeIds" | "allowLayoutChange" | "allowRestart">>,
    Pick<OdgmSpec, "allowLayoutChange" | "allowRestart"> {
  /** If absent, as in plans of earlier releases, each class runtime manager derives the same type from the shared content. */
  readonly shardType?: ShardType;
  readonly nodeIds: Readonly<Record<string, readonly number[]>>;
  readonly assignments: Readonly<Record<string, readonly ShardAssignment[]>>;
}

/** The inputs of the sizes of a plan; hysteresis applies only while they are equal. */
export interface SizingBasis {
  readonly target: number;
  readonly algorithm: PlannerAlgorithm;
  readonly strong: boolean;
  /** The minimum that the user requested, or that several nodes need. */
  readonly atLeast: number;
}

/** A plan with all ids fixed and all decisions explained. Plain JSON, so that it can be stored. */
export interface DeploymentPlan {
  /** Covers everything that takes effect, and nothing else: not readings, ages or texts. */
  readonly digest: string;
  readonly sizing: SizingBasis;
  /** The availability of the planned replicas at the current readings, if they fail independently. */
  readonly achievedAvailability: number;
  /** Absent in plans stored by earlier releases. */
  readonly availability?: PlannedAvailability;
  /** The target is out of reach and the deployment accepts the closest result. */
  readonly bestEffort: boolean;
  readonly replicas: number;
  readonly clusters: readonly ClusterVerdict[];
  readonly shared: SharedSpec;
  readonly units: readonly PlannedUnit[];
  readonly odgm?: PlannedOdgm;
  readonly rollout?: Rollout;
  readonly decisions: readonly Decision[];
  /** The objects that the plan loses, in one sentence; absent if it loses none. Not part of the digest. */
  readonly stateLoss?: string;
  /** Absent in plans of earlier releases. */
  readonly price?: PlanPrice;
}

/** A plan of this release, with all parts that earlier releases did not store. */
export type CompletePlan = DeploymentPlan & Required<Pick<DeploymentPlan, "availability" | "price">>;

/** A missed target and the availability that is reachable. */
export interface LowerTarget {
  /** `class`, or the key of the function that states the target. */
  readonly subject: string;
  readonly availability: number;
}

/** One change that makes the target reachable, verified by sizing with it. */
export type Remedy =
  | { readonly kind: "lower-target"; readonly targets: readonly LowerTarget[]; readonly text: string }
  | { readonly kind: "raise-cap"; readonly maxReplicas: number; readonly text: string }
  | { readonly kind: "add-cluster"; readonly availability: number; readonly text: string }
  | { readonly kind: "restore-cluster"; readonly cluster: ClusterName; readonly text: string }
  | { readonly kind: "leave-out"; readonly clusters: readonly ClusterName[]; readonly text: string }
  | { readonly kind: "lower-replica-count"; readonly replicaCount: number; readonly text: string }
  | { readonly kind: "connect-clusters"; readonly clusters: readonly ClusterName[]; readonly text: string }
  | { readonly kind: "allow-best-effort"; readonly text: string };

/** The parts that all refusals have. */
interface RefusalBase {
  /** The complete explanation, safe to return to clients. */
  readonly message: string;
  readonly clusters: readonly ClusterVerdict[];
}

/** Why a deployment cannot be planned. */
export type PlanRefusal = RefusalBase &
  (
    | { readonly kind: "invalid"; readonly violations: readonly Violation[] }
    | { readonly kind: "disabled"; readonly subject: string }
    | { readonly kind: "no-cluster"; readonly subject: string }
    | {
        readonly kind: "no-usable-cluster";
        readonly unusable: readonly ClusterName[];
        /** Only because of what-if assumptions, cordons or freeze windows: waiting a while does not help. */
        readonly assumed: boolean;
      }
    | {
        readonly kind: "out-of-reach";
        /** `class`, or the key of the function that states the target. */
        readonly subject: string;
        readonly target: number;
        /** Absent if no count within the cap is allowed. */
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

/** Reads an entry of a user-supplied map, ignoring inherited properties such as `constructor`. */
export function ownEntry<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
