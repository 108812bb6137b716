import type { AuditEntry, Explanation } from "@oaas/contracts/rest";
import type {
  ActiveFreeze,
  ComponentUsage,
  AvailabilityPrior,
  ClassDefinition,
  ClassDeployment,
  ClusterCost,
  ClusterLoss,
  ClassRuntime,
  ClusterName,
  DeploymentKey,
  FreezeWindowName,
  FreezeWindowSpec,
  FreezeWindowState,
  FunctionDefinition,
  NfrMeasurement,
  OperationStatus,
  ObservedDeployment,
  Package,
  PackageName,
  Topology,
  UnitId,
  DeploymentRevision,
  DeploymentPause,
  DrainProgress,
  DeploymentStatus,
  EnforcementReport,
  PackageRevision,
  Revision,
  RuntimeConditions,
  RuntimeObject,
  RuntimePods,
  RuntimeSignals,
  ShardType,
} from "@oaas/models";
import type { Fault } from "@oaas/foundation";
import type { Transaction } from "@oaas/storage";
import type { ClusterObjects } from "./planner/explanation/plan-objects.ts";
import type { CompletePlan } from "./planner/plan-types.ts";
import type {
  ClusterEntry,
  FunctionRequest,
  FunctionResponse,
  LogLine,
  LogQuery,
  ObjectQuery,
  RuntimeQuery,
  SignalQuery,
  StateEntries,
  StateObjectAddress,
  StateObjectSummary,
  StatePartition,
} from "./ports.ts";

/**
 * The use cases of the package manager, independent of transport. REST and gRPC call only these.
 *
 * Every method rejects with a Fault. Invalid input is invalid-argument with all violations and changes nothing.
 */

/** The caller of a use case, its reason and its deadline. */
export interface Call {
  /** The name of the caller, for revisions, history and the audit log. */
  readonly caller: string;
  readonly correlationId: string;
  readonly reason?: string;
  readonly signal?: AbortSignal;
}

/** The precondition of a write on the version of a resource. */
export interface VersionCondition {
  /** The version must be one of these; `any`: the resource must exist. */
  readonly oneOf?: readonly number[] | "any";
  /** The version must be none of these; `any`: the resource must not exist. */
  readonly noneOf?: readonly number[] | "any";
}

/** A write with a precondition on the version: the number in the ETag. */
export interface Versioned {
  readonly ifVersion?: VersionCondition | undefined;
}

/**
 * The idempotency record of a request. It is committed in the transaction of its effect, so that the effect happens once,
 * however often the request is sent and whichever process crashes.
 */
export interface IdempotencyRecord {
  /** The store key of the record. */
  readonly key: string;
  /** Set when the effect was committed before: the note stored with it, and the store revision. Respond as the first time. */
  readonly committed: { readonly note: unknown; readonly revision: number } | undefined;
  /** Stages the record with a note for the response. A conflict on `key` means that another process handles the request. */
  stage(note: object): Transaction;
}

/** A write that may have an idempotency key. */
export interface Idempotent {
  readonly idempotency?: IdempotencyRecord | undefined;
}

/** A resource with its version, which changes with each write. */
export interface WithVersion<T> {
  readonly value: T;
  readonly version: number;
}

export interface PageRequest {
  readonly limit?: number;
  readonly offset?: number;
  /** The `next` of the previous page; takes precedence over the offset. */
  readonly pageToken?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** Set when more pages follow. */
  readonly next?: string;
}

export interface Acknowledgement {
  /** The name of a package, or the unit id of a deployment in its first cluster, for `/deployment-status/{id}`. */
  readonly id: string;
  /** The key of a deployment. */
  readonly key?: DeploymentKey;
  readonly status: "created" | "updated" | "unchanged" | "accepted";
  readonly message?: string;
  readonly version?: number;
}

/** One difference between two revisions, by JSON path of the contract. */
export interface Change {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A change of what runs, with what restarts and which data moves. */
export interface ResolvedChange extends Change {
  readonly text: string;
  readonly effect?: string;
}

/** A plan and how it differs from the running deployment. */
export interface PlanPreview {
  readonly plan: CompletePlan;
  /** Undefined for a new deployment. */
  readonly changes: readonly ResolvedChange[] | undefined;
  /** What the loss of the clusters that are assumed down does. */
  readonly loss: ClusterLoss | undefined;
  /** What it would change in each cluster, when requested. */
  readonly objects?: readonly ClusterObjects[];
  /** The pause that keeps the plan from being applied. */
  readonly pause?: DeploymentPause | undefined;
  /** The freeze windows that keep the plan from being applied. */
  readonly freezes?: readonly ActiveFreeze[];
}

export interface Diff {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Change[];
}

/** The differences between two revisions of a deployment: as written, and of what runs. */
export interface DeploymentDiff extends Diff {
  readonly resolvedChanges: readonly ResolvedChange[];
}

/** The effect that writing a package would have. */
export interface PackagePreview {
  readonly id: string;
  readonly status: "created" | "updated" | "unchanged";
  /** The revision that the write would create; the current one when nothing would change. */
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly message?: string;
  /** The version of the current package. */
  readonly version?: number;
}

export interface PackageQuery extends PageRequest {
  readonly namePattern?: string;
  readonly disabled?: boolean;
  readonly tags?: readonly string[];
  readonly sort?: string;
}

/** A registered package; `json` is its REST form, built once per revision. */
export interface RegisteredPackage {
  readonly package: Package;
  readonly revision: number;
  readonly json: string;
  /** Without its secrets, for callers that may not read them; undefined when it has none. */
  readonly masked: { readonly package: Package; readonly json: string } | undefined;
}

/** What a package needs and what needs it, the nearest packages first; the totals include those that are left out. */
export interface DependencyGraph {
  readonly packages: readonly {
    readonly name: PackageName;
    readonly state: "available" | "disabled" | "missing";
  }[];
  readonly dependencies: readonly { readonly from: PackageName; readonly to: PackageName }[];
  readonly totalPackages: number;
  readonly totalDependencies: number;
}

export interface Registry {
  register(
    input: Package,
    call: Call,
    options: Idempotent & { readonly applyDeployments?: boolean },
  ): Promise<Acknowledgement>;
  update(
    name: PackageName,
    input: Package,
    call: Call,
    options: Versioned & Idempotent & { readonly applyDeployments?: boolean },
  ): Promise<Acknowledgement>;
  /** The effect of `register`, or with a name of `update`, without writing; fails like them. */
  preview(
    input: Package,
    options: Versioned & { readonly name?: PackageName; readonly applyDeployments?: boolean },
  ): Promise<PackagePreview>;
  /** `accepted` while its deployments are being deleted. */
  remove(
    name: PackageName,
    call: Call,
    options: Versioned & { readonly cascade?: boolean },
  ): Promise<"deleted" | "accepted">;
  get(name: PackageName): Promise<WithVersion<RegisteredPackage>>;
  list(query: PackageQuery): Promise<ListPage<RegisteredPackage>>;
  dependencies(name: PackageName): Promise<DependencyGraph>;
  revisions(name: PackageName, page: PageRequest): Promise<ListPage<Revision>>;
  revision(name: PackageName, revision: number): Promise<PackageRevision>;
  diff(name: PackageName, from?: number, to?: number): Promise<Diff>;
  rollBack(name: PackageName, revision: number, call: Call, options: Versioned & Idempotent): Promise<Acknowledgement>;
  /** Classes with the key `package.Class`. */
  classes(query: PageRequest & { readonly filter?: string }): Promise<ListPage<ClassDefinition>>;
  functions(query: PageRequest & { readonly filter?: string }): Promise<ListPage<FunctionDefinition>>;
}

export interface PlanRequest {
  readonly deployment: ClassDeployment;
  /** Also ask the clusters which objects the plan would change. */
  readonly objects?: boolean;
  readonly whatIf?: {
    readonly clustersDown?: readonly ClusterName[];
    readonly availability?: number;
    readonly clusterAvailability?: Readonly<Record<string, number>>;
    readonly packageRevision?: number;
    /** Used instead of the registered package, which may not exist yet. */
    readonly package?: Package;
  };
}

export interface DeploymentQuery extends PageRequest {
  readonly packageName?: string;
  readonly classKey?: string;
  readonly targetEnv?: string;
  readonly targetCluster?: string;
  readonly condition?: string;
  /** Part of the key, or a pattern with `*` for the whole key. */
  readonly filter?: string;
  readonly sort?: string;
}

export interface Deletion {
  readonly status: "deleted" | "accepted";
  readonly deleted: readonly ClusterName[];
  /** Unreachable clusters; deleted there when they answer again. */
  readonly pending: readonly ClusterName[];
  readonly message: string;
}

export interface DeploymentRequest {
  readonly deployment: ClassDeployment;
  readonly planDigest?: string;
  /** The key was derived from the class. Fails with already-exists when another class has derived the same key. */
  readonly isKeyDerived?: boolean;
}

export interface Deployments {
  /** Plans a deployment without changing anything. */
  plan(request: PlanRequest, call: Call): Promise<PlanPreview>;
  /** Creates or updates; waits until every cluster has accepted it, and returns `accepted` after the configured limit. */
  apply(request: DeploymentRequest, call: Call, options: Versioned & Idempotent): Promise<Acknowledgement>;
  remove(key: DeploymentKey, call: Call, options: Versioned & { readonly cluster?: ClusterName }): Promise<Deletion>;
  rollBack(key: DeploymentKey, revision: number, call: Call, options: Versioned & Idempotent): Promise<Acknowledgement>;
  cancel(key: DeploymentKey, call: Call): Promise<void>;
  get(key: DeploymentKey): Promise<WithVersion<ObservedDeployment>>;
  list(query: DeploymentQuery): Promise<ListPage<ObservedDeployment>>;
  revisions(key: DeploymentKey, page: PageRequest): Promise<ListPage<DeploymentRevision>>;
  revision(key: DeploymentKey, revision: number): Promise<DeploymentRevision>;
  diff(key: DeploymentKey, from?: number, to?: number): Promise<DeploymentDiff>;
  /** Unit ids by cluster; empty for an unknown key. */
  mappings(key: DeploymentKey): Promise<Readonly<Record<ClusterName, UnitId>>>;
}

/** The end of a pause: a time, or a duration. */
export interface PauseRequest {
  readonly until?: string;
  readonly durationSeconds?: number;
}

/** Pauses keep everything except a deletion from changing the clusters of a deployment. */
export interface Pauses {
  /** Replaces an earlier pause. */
  pause(key: DeploymentKey, request: PauseRequest, call: Call): Promise<void>;
  resume(key: DeploymentKey): Promise<void>;
}

/** Times in which users and the re-planner do not change the deployments of a cluster, or of the whole platform. */
export interface FreezeCalendar {
  /** By name, with their present state. */
  list(): readonly FreezeWindowState[];
  get(name: FreezeWindowName): FreezeWindowState;
  /** Creates or replaces a window. */
  set(name: FreezeWindowName, spec: FreezeWindowSpec, call: Call): Promise<FreezeWindowState>;
  delete(name: FreezeWindowName): Promise<void>;
}

/** New plans for running deployments. */
export interface Replans {
  /** Applies the proposed plan with this digest; fails with a conflict when the plan would be another one now. */
  apply(key: DeploymentKey, digest: string, call: Call, options: Idempotent): Promise<Acknowledgement>;
}

/** A package or deployment of a set that is applied as a whole. */
export type DocumentRequest = Versioned &
  ({ readonly kind: "package"; readonly package: Package } | ({ readonly kind: "deployment" } & DeploymentRequest));

/** The result for one document of a set. */
export interface AppliedDocument {
  readonly kind: DocumentRequest["kind"];
  /** The name of a package or the key of a deployment. */
  readonly name: string;
  readonly status: "created" | "updated" | "unchanged";
  /** The revision that was written, or the current one of an unchanged document. */
  readonly revision: number;
  /** The number in the ETag; in a preview that of the current package. */
  readonly version?: number;
  readonly message?: string;
  /** Of a deployment: whether every cluster has accepted it. */
  readonly rollout?: "complete" | "in_progress" | "failed";
  /** The id of the operation that rolls a deployment out. */
  readonly operation?: string;
  /** Of a failed roll-out. */
  readonly fault?: Fault;
  /** In a preview: the differences from the current package. */
  readonly changes?: readonly Change[];
  /** In a preview: the plan of a deployment. */
  readonly preview?: PlanPreview;
}

/** Sets of packages and deployments. All documents of a set are applied, or none. */
export interface Documents {
  /** Writes the documents in one transaction and waits for their roll-outs, as `Deployments.apply` does. */
  apply(
    documents: readonly DocumentRequest[],
    call: Call,
    options: Idempotent & { readonly applyDeployments?: boolean },
  ): Promise<readonly AppliedDocument[]>;
  /** Does the same up to the transaction, and returns what would change. */
  preview(
    documents: readonly DocumentRequest[],
    call: Call,
    options: { readonly applyDeployments?: boolean },
  ): Promise<readonly AppliedDocument[]>;
}

/** Reads what a class runtime consists of and how it behaves; without a cluster, in the first one that has it. */
export interface RuntimeInspection {
  signals(id: UnitId, query: SignalQuery, cluster?: ClusterName, call?: Call): Promise<RuntimeSignals>;
  object(id: UnitId, query: ObjectQuery, cluster?: ClusterName, call?: Call): Promise<RuntimeObject>;
  pods(id: UnitId, cluster?: ClusterName, call?: Call): Promise<RuntimePods>;
  conditions(id: UnitId, cluster?: ClusterName, call?: Call): Promise<RuntimeConditions>;
}

/** Reads the output of functions, and sends them requests for trying out. */
export interface FunctionAccess {
  /** The output from all clusters of a deployment, or from one. An unreachable cluster is named in a notice. */
  logs(
    key: DeploymentKey,
    query: LogQuery & { readonly cluster?: ClusterName },
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly ClusterLogLine[]>>;
  /** Sends the request to the given cluster, else to the first one where the function is ready. */
  invoke(
    key: DeploymentKey,
    request: FunctionRequest,
    options: { readonly cluster?: ClusterName; readonly signal: AbortSignal },
  ): Promise<FunctionResponse & { readonly cluster: ClusterName }>;
}

/** Where the copies of a collection are. */
export interface StateCollection {
  readonly name: string;
  readonly partitionCount: number;
  readonly replicaCount: number;
  /** Absent where the cluster decides. */
  readonly shardType?: ShardType;
  readonly clusters: readonly ClusterName[];
}

/** The objects of a deployment to list; all partitions, one after the other, unless one is named. */
export interface StateListQuery {
  /** Default: the only one. */
  readonly collection?: string;
  readonly partition?: number;
  readonly prefix?: string;
  readonly fresh: boolean;
  readonly limit?: number;
  readonly pageToken?: string;
  readonly cluster?: ClusterName;
}

/** Where to read or write an object: in the given cluster, else in the first one that holds the partition and responds. */
export interface StateCall {
  readonly cluster?: ClusterName;
  readonly signal: AbortSignal;
}

/** Reads and writes the objects of deployments. */
export interface StateObjects {
  /** Throws failed-precondition for a deployment without a state store. */
  collections(key: DeploymentKey): Promise<readonly StateCollection[]>;
  list(
    key: DeploymentKey,
    query: StateListQuery,
    signal: AbortSignal,
  ): Promise<{ readonly objects: readonly (StateObjectSummary & StatePartition)[]; readonly next?: string }>;
  get(
    key: DeploymentKey,
    address: StateObjectAddress,
    call: StateCall,
  ): Promise<{ readonly cluster: ClusterName; readonly version: number; readonly entries: StateEntries }>;
  /** Returns the cluster that acknowledged the write. */
  set(key: DeploymentKey, address: StateObjectAddress, entries: StateEntries, call: StateCall): Promise<ClusterName>;
  delete(key: DeploymentKey, address: StateObjectAddress, call: StateCall): Promise<ClusterName>;
}

export interface ClusterLogLine extends LogLine {
  readonly cluster: ClusterName;
}

/** A list of class runtimes: by cluster and unit id unless sorted. */
export interface RuntimeListQuery extends RuntimeQuery, PageRequest {
  readonly cluster?: ClusterName;
  /** Part of the unit id, or a pattern with `*` for the whole id. */
  readonly filter?: string;
  readonly sort?: string;
}

/** The state of the clusters, as they report it. */
export interface StatusReader {
  status(key: DeploymentKey): Promise<DeploymentStatus>;
  unit(id: UnitId, cluster?: ClusterName): Promise<ClassRuntime>;
  /** The cluster of a unit, and its namespace there if it is known. */
  locate(
    id: UnitId,
    cluster?: ClusterName,
  ): Promise<{ readonly cluster?: ClusterName | undefined; readonly namespace?: string | undefined }>;
  /** Read from the cluster: lists and watches leave the records of decisions out. */
  enforcement(id: UnitId, cluster?: ClusterName): Promise<EnforcementReport>;
  /** The present usage of all components in a cluster. */
  usage(cluster: ClusterName, call?: Call): Promise<readonly ComponentUsage[]>;
  /** Complete except for the clusters in `missing`. */
  runtimes(query: RuntimeListQuery): Promise<ListPage<ClassRuntime> & { readonly missing: readonly ClusterName[] }>;
  explain(key: DeploymentKey, cluster?: ClusterName, call?: Call): Promise<Explanation>;
  topology(source: "deployments" | "zenoh"): Promise<Topology>;
}

export interface ClusterRegistration {
  readonly name: ClusterName;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
  readonly retryAttempts: number;
  readonly token?: string;
  /** Instead of a token: the path of a file with the token, re-read when it changes. */
  readonly tokenFile?: string;
  readonly tls?: {
    readonly caFile?: string;
    readonly certificateFile?: string;
    readonly keyFile?: string;
    readonly insecure: boolean;
  };
  /** The availability that the operator promises. */
  readonly availability?: AvailabilityPrior;
  readonly cost?: ClusterCost;
  /** Namespace of units whose deployment and package state none. */
  readonly defaultNamespace?: string;
  /** Namespaces that deployments may use; empty or absent: all that its manager serves. */
  readonly allowedNamespaces?: readonly string[];
}

export interface ClusterAdmin {
  add(cluster: ClusterRegistration, call: Call, options?: Idempotent): Promise<ClusterEntry>;
  /**
   * Fails while deployments use the cluster, and for clusters of the configuration. Pending removals in a cluster that does
   * not answer are abandoned.
   */
  remove(name: ClusterName, call: Call): Promise<void>;
}

/** Cordons keep new units out of a cluster; a drain also moves the units away that are there. */
export interface Cordons {
  cordon(name: ClusterName, call: Call): Promise<void>;
  drain(name: ClusterName, call: Call & { readonly allowsStateLoss: boolean }): Promise<void>;
  /** Also ends a drain. */
  uncordon(name: ClusterName): Promise<void>;
}

/** The progress of drains. */
export interface Drains {
  progress(name: ClusterName): Promise<DrainProgress>;
}

export interface AuditQuery extends PageRequest {
  /** Subject or name of the caller. */
  readonly actor?: string;
  readonly action?: string;
  /** Part of the target. */
  readonly target?: string;
  readonly outcome?: AuditEntry["outcome"];
  /** Milliseconds since the epoch. */
  readonly since?: number;
}

/** The kept entries of the audit trail, newest first. */
export interface AuditReader {
  list(query: AuditQuery): Promise<ListPage<AuditEntry>>;
}

/** The newest operation of a deployment. */
export interface ListedOperation extends OperationStatus {
  readonly key: DeploymentKey;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly requestedBy: string;
}

export interface OperationQuery extends PageRequest {
  readonly state?: OperationStatus["state"];
  readonly kind?: OperationStatus["kind"];
  /** Part of the key of the deployment, or a pattern with `*` for the whole key. */
  readonly filter?: string;
}

/** A measured requirement that a class does not meet. */
export interface ViolatedRequirement {
  readonly runtime: ClassRuntime;
  readonly deploymentKey?: string;
  readonly measurement: NfrMeasurement;
}

export interface RecentChange {
  readonly kind: "package" | "deployment";
  readonly key: string;
  readonly revision: number;
  readonly author?: string;
  readonly reason?: string;
  readonly at: string;
  readonly outcome?: string;
}

type Counts = Readonly<Record<string, number>>;

/** Everything in numbers. */
export interface OverviewReport {
  readonly deployments: { readonly total: number; readonly byCondition: Counts; readonly paused: number };
  readonly classRuntimes: { readonly total: number; readonly byCondition: Counts };
  readonly packages: { readonly total: number; readonly disabled: number };
  readonly clusters: { readonly total: number; readonly byStatus: Counts; readonly cordoned: number };
  readonly operations: {
    readonly running: number;
    readonly failed: number;
    readonly items: readonly ListedOperation[];
  };
  readonly violations: { readonly total: number; readonly items: readonly ViolatedRequirement[] };
  readonly recentChanges: readonly RecentChange[];
  readonly at: string;
}

export interface Overview {
  read(call?: Call): Promise<OverviewReport>;
  operations(query: OperationQuery): ListPage<ListedOperation>;
}

interface ClusterFault {
  readonly fault: string;
  readonly cluster: string;
}

/** Injects faults into clusters: in the local stack only. Invalid faults are rejected with the field. */
export interface Lab {
  state(): {
    readonly clusters: readonly string[];
    readonly faults: readonly { readonly fault: string; readonly title: string; readonly description: string }[];
    readonly injected: readonly ClusterFault[];
  };
  inject(fault: ClusterFault): Promise<void>;
  remove(fault: ClusterFault): Promise<void>;
  removeAll(): Promise<void>;
}

export type EventTopic = "deployment" | "operation" | "cluster" | "class-runtime" | "package";

/** One event of a stream; `id` is the position to resume from. */
export interface FeedEvent {
  readonly id: string;
  readonly topic: EventTopic;
  readonly type:
    | "added"
    | "changed"
    | "removed"
    | "progress"
    | "drift-corrected"
    | "replan"
    | "restart-turn"
    | "resync";
  readonly key: string;
  readonly at: string;
  /** The resource after the event, in the form of its route. */
  readonly object?: unknown;
}

export interface EventFeed {
  /** Streams events after `lastEventId` if they are still kept, else starts with a `resync`. */
  follow(query: {
    readonly topic?: EventTopic;
    readonly key?: string;
    readonly lastEventId?: string;
    readonly signal: AbortSignal;
  }): AsyncIterable<FeedEvent>;
}
