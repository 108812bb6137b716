import type { FindingWire } from "@oaas/contracts/rest";
import type {
  ClassDefinition,
  ClassDeployment,
  ClassRuntime,
  ClusterName,
  DeploymentCondition,
  DeploymentKey,
  FunctionDefinition,
  FunctionStatus,
  LifecyclePhase,
  ObservedDeployment,
  Package,
  PackageName,
  Topology,
  UnitId,
} from "@oaas/models";
import type { Transaction } from "@oaas/storage";
import type { DeploymentPlan } from "./planner/plan-types.ts";
import type { ClusterEntry, RuntimeQuery } from "./ports.ts";

/**
 * What the package manager can do, apart from how it is asked: REST and gRPC both call these and nothing else.
 *
 * Every method rejects with a Fault. Wrong input is invalid-argument with all violations and changes nothing.
 */

/** Who asks, why, and how long they wait. */
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

/** A write that succeeds only on a version the caller means: the number in an ETag. */
export interface Versioned {
  readonly ifVersion?: VersionCondition | undefined;
}

/**
 * A request that is carried out once, however often it is sent and whoever dies over it: its mark is written in the transaction of its
 * effect, so there is no effect without a mark.
 */
export interface Once {
  /** The key of the store that holds the mark. */
  readonly key: string;
  /** Set when the effect is there: what was noted with it, and the revision of both. The rest is to answer as the first would have. */
  readonly done: { readonly note: unknown; readonly revision: number } | undefined;
  /** The part of a transaction that leaves the mark, with what the answer needs; a conflict on `key` when another has taken the request up. */
  mark(note: object): Transaction;
}

/** A write that may be one of those which are carried out once. */
export interface Repeatable {
  readonly once?: Once | undefined;
}

/** A thing with the number that changes with each write to it. */
export interface WithVersion<T> {
  readonly value: T;
  readonly version: number;
}

export interface PageRequest {
  readonly limit?: number;
  readonly offset?: number;
  /** The `next` of the page before; wins over offset. */
  readonly pageToken?: string;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** Set when there is more. */
  readonly next?: string;
}

export interface Acknowledgement {
  /** The name of a package; of a deployment the id of its unit in the first cluster, by which `/deployment-status/{id}` is asked. */
  readonly id: string;
  /** The key of a deployment. */
  readonly key?: DeploymentKey;
  readonly status: "created" | "updated" | "unchanged" | "accepted";
  readonly message?: string;
  readonly version?: number;
}

/** One immutable entry of a history. */
export interface Revision {
  readonly revision: number;
  readonly digest: string;
  readonly author?: string;
  readonly reason?: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** One difference between two revisions, by JSON path in the contract's spelling. */
export interface Change {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface Diff {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Change[];
}

/** What writing a package would do. */
export interface PackagePreview {
  readonly id: string;
  readonly status: "created" | "updated" | "unchanged";
  /** The revision that it would be; the current one when nothing would change. */
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly message?: string;
  /** Of the package as it is. */
  readonly version?: number;
}

export interface PackageQuery extends PageRequest {
  readonly namePattern?: string;
  readonly disabled?: boolean;
  readonly tags?: readonly string[];
  readonly sort?: string;
}

/** A package as the registry has it; `json` is the text of its REST form, made once for each revision. */
export interface RegisteredPackage {
  readonly package: Package;
  readonly revision: number;
  readonly json: string;
}

export interface Registry {
  register(
    input: Package,
    call: Call,
    options: Repeatable & { readonly applyDeployments?: boolean },
  ): Promise<Acknowledgement>;
  update(
    name: PackageName,
    input: Package,
    call: Call,
    options: Versioned & Repeatable & { readonly applyDeployments?: boolean },
  ): Promise<Acknowledgement>;
  /** What `register`, or with a name `update`, would do, or be refused for; nothing is written. */
  preview(
    input: Package,
    options: Versioned & { readonly name?: PackageName; readonly applyDeployments?: boolean },
  ): Promise<PackagePreview>;
  /** `accepted` while its deployments are being deleted first. */
  remove(
    name: PackageName,
    call: Call,
    options: Versioned & { readonly cascade?: boolean },
  ): Promise<"deleted" | "accepted">;
  get(name: PackageName): Promise<WithVersion<RegisteredPackage>>;
  list(query: PackageQuery): Promise<ListPage<RegisteredPackage>>;
  revisions(name: PackageName, page: PageRequest): Promise<ListPage<Revision>>;
  revision(name: PackageName, revision: number): Promise<Revision & { readonly package: Package }>;
  diff(name: PackageName, from?: number, to?: number): Promise<Diff>;
  rollBack(name: PackageName, revision: number, call: Call, options: Versioned & Repeatable): Promise<Acknowledgement>;
  /** Classes with the key `package.Class`. */
  classes(query: PageRequest & { readonly filter?: string }): Promise<ListPage<ClassDefinition>>;
  functions(query: PageRequest & { readonly filter?: string }): Promise<ListPage<FunctionDefinition>>;
}

export interface PlanRequest {
  readonly deployment: ClassDeployment;
  readonly whatIf?: {
    readonly clustersDown?: readonly ClusterName[];
    readonly availability?: number;
    readonly clusterAvailability?: Readonly<Record<string, number>>;
    readonly packageRevision?: number;
  };
}

export interface DeploymentQuery extends PageRequest {
  readonly packageName?: string;
  readonly classKey?: string;
  readonly targetEnv?: string;
  readonly targetCluster?: string;
  readonly condition?: string;
  readonly sort?: string;
}

export interface Deletion {
  readonly status: "deleted" | "accepted";
  readonly deleted: readonly ClusterName[];
  /** Out of reach now; finished when they return. */
  readonly pending: readonly ClusterName[];
  readonly message: string;
}

/** One entry of a deployment's history. */
export interface DeploymentRevision extends Revision {
  readonly deployment: ClassDeployment;
  readonly planDigest?: string;
  readonly outcome: "running" | "succeeded" | "failed" | "compensated" | "cancelled";
  /** What came of it, by cluster, in words. */
  readonly clusters: Readonly<Record<string, string>>;
}

export interface DeploymentRequest {
  readonly deployment: ClassDeployment;
  readonly planDigest?: string;
  /** The key was made of the names of the class: already-exists when it is one of another class, whose names make the same. */
  readonly isKeyMade?: boolean;
}

export interface Deployments {
  /** What a deployment would do; nothing is changed. */
  plan(request: PlanRequest, call: Call): Promise<DeploymentPlan>;
  /** Creates or updates; waits until every cluster has accepted it, at most the configured limit, then `accepted`. */
  apply(request: DeploymentRequest, call: Call, options: Versioned & Repeatable): Promise<Acknowledgement>;
  remove(key: DeploymentKey, call: Call, options: Versioned & { readonly cluster?: ClusterName }): Promise<Deletion>;
  rollBack(key: DeploymentKey, revision: number, call: Call, options: Versioned & Repeatable): Promise<Acknowledgement>;
  cancel(key: DeploymentKey, call: Call): Promise<void>;
  get(key: DeploymentKey): Promise<WithVersion<ObservedDeployment>>;
  list(query: DeploymentQuery): Promise<ListPage<ObservedDeployment>>;
  revisions(key: DeploymentKey, page: PageRequest): Promise<ListPage<DeploymentRevision>>;
  revision(key: DeploymentKey, revision: number): Promise<DeploymentRevision>;
  diff(key: DeploymentKey, from?: number, to?: number): Promise<Diff>;
  /** Unit ids by cluster; empty for an unknown key. */
  mappings(key: DeploymentKey): Promise<Readonly<Record<ClusterName, UnitId>>>;
}

export interface ClusterDeploymentStatus {
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly reachable: boolean;
  readonly condition: DeploymentCondition;
  readonly phase?: LifecyclePhase;
  readonly message?: string;
  readonly functions: readonly FunctionStatus[];
  readonly error?: string;
  readonly observedAt?: string;
}

/** The saga that carries a deployment out, as far as it has come. */
export interface OperationStatus {
  readonly id: string;
  readonly kind: "deploy" | "delete" | "roll_back" | "repair";
  readonly state: "running" | "succeeded" | "failed" | "compensating" | "compensated" | "cancelled";
  readonly done: number;
  readonly total: number;
  readonly message?: string;
}

export interface DeploymentStatus {
  readonly key: DeploymentKey;
  readonly condition: DeploymentCondition;
  readonly message?: string;
  /** Of the wish in force, or the last there was. */
  readonly revision: number;
  readonly clusters: readonly ClusterDeploymentStatus[];
  readonly operation?: OperationStatus;
  readonly achievedQuorumAvailability?: number;
  readonly updatedAt: string;
}

export interface Explanation {
  readonly key: DeploymentKey;
  readonly summary: string;
  readonly verdict: "healthy" | "transient" | "permanent";
  readonly suggestedAction: string;
  readonly clusters: readonly {
    readonly cluster: ClusterName;
    readonly unitId: UnitId;
    readonly finding?: FindingWire;
    readonly error?: string;
  }[];
  readonly observedAt: string;
}

/** What runs, as the clusters tell it. */
export interface StatusReader {
  status(key: DeploymentKey): Promise<DeploymentStatus>;
  unit(id: UnitId, cluster?: ClusterName): Promise<ClassRuntime>;
  /** Complete but for the clusters in `missing`. */
  runtimes(
    query: RuntimeQuery & PageRequest & { readonly cluster?: ClusterName },
  ): Promise<ListPage<ClassRuntime> & { readonly missing: readonly ClusterName[] }>;
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
  /** Instead of a token: a file that holds it, read again when it changes. */
  readonly tokenFile?: string;
  readonly tls?: {
    readonly caFile?: string;
    readonly certificateFile?: string;
    readonly keyFile?: string;
    readonly insecure: boolean;
  };
}

export interface ClusterAdmin {
  add(cluster: ClusterRegistration, call: Call, options?: Repeatable): Promise<ClusterEntry>;
  /** Refused while deployments are in it, and for clusters that the configuration names. What only waits to be removed from one that does not answer is given up. */
  remove(name: ClusterName, call: Call): Promise<void>;
}

export type EventTopic = "deployment" | "operation" | "cluster" | "class-runtime" | "package";

/** One event of a stream; `id` says where to go on from. */
export interface FeedEvent {
  readonly id: string;
  readonly topic: EventTopic;
  readonly type: "added" | "changed" | "removed" | "progress" | "resync";
  readonly key: string;
  readonly at: string;
  /** The thing after the event, in the form its own route answers. */
  readonly object?: unknown;
}

export interface EventFeed {
  /** Follows what happens, from after `lastEventId` when history still reaches it, else beginning with a `resync`. */
  follow(query: {
    readonly topic?: EventTopic;
    readonly key?: string;
    readonly lastEventId?: string;
    readonly signal: AbortSignal;
  }): AsyncIterable<FeedEvent>;
}
