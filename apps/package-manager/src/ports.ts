import type { DeploymentUnit } from "@oaas/contracts/grpc";
import type { FindingWire } from "@oaas/contracts/rest";
import type { Result } from "@oaas/foundation";
import type {
  ComponentUsage,
  AvailabilityPrior,
  ClassRuntime,
  ClusterCost,
  ClusterHealth,
  ClusterName,
  DeploymentCondition,
  EnforcementReport,
  LifecyclePhase,
  RuntimeConditions,
  RuntimeObject,
  RuntimePods,
  RuntimeSignals,
  TextProblem,
  Topology,
  UnitId,
} from "@oaas/models";

/**
 * The ports of the package manager. The key-value store is a port in its own package (`@oaas/storage`).
 *
 * Every call takes a signal. The caller sets the deadline, and the adapter applies it to its own calls.
 */

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** A user waits for the call: it probes an open circuit breaker instead of waiting for its timeout. */
  readonly explicit?: boolean;
}

/** A call about one unit. */
export interface UnitCallOptions extends CallOptions {
  /** The namespace of the unit. Absent: the manager finds the unit, or decides where a new one is created. */
  readonly namespace?: string | undefined;
}

export interface RemoveOptions extends UnitCallOptions {
  /** The cluster rejects the call (failed-precondition) when it has a newer revision of the unit. */
  readonly revision?: number;
}

/** The turn of one node of a state store to restart. */
export interface RestartGrant {
  readonly nodeId: number;
  /** The same in repeated calls. */
  readonly turnId: string;
}

/** The report of one cluster about one unit. */
export interface UnitReport {
  readonly unitId: UnitId;
  /** Absent if the manager does not report it. */
  readonly namespace?: string;
  readonly runtime: ClassRuntime;
  readonly condition: DeploymentCondition;
  /** The detailed phase, if the manager of the cluster reports it. */
  readonly phase?: LifecyclePhase;
  readonly message?: string;
  /** The digest and the revision that were sent with the unit, if the manager repeats them. */
  readonly digest?: string;
  readonly revision?: number;
  /** Why the cluster does not measure the requirements of the unit, if it says so. */
  readonly notObserved?: string;
  /** The number of writes to the object in the cluster, by any client, if the manager reports it. */
  readonly generation?: number;
  /** The owner of the unit, if known. Units of other owners are never touched. */
  readonly managedBy?: string;
  readonly deploymentKey?: string;
}

/** A filter for runtimes. */
export interface RuntimeQuery {
  readonly packageName?: string;
  readonly classKey?: string;
  readonly environment?: string;
  readonly condition?: DeploymentCondition;
}

export type RuntimeChange =
  /** A full list begins; `synced` ends it. */
  | { readonly type: "syncing" }
  | { readonly type: "changed"; readonly report: UnitReport }
  | { readonly type: "removed"; readonly unitId: UnitId; readonly namespace?: string }
  /** The full list is complete: units that were not listed since `syncing` do not exist. */
  | { readonly type: "synced" }
  /** Keep-alive without a change. */
  | { readonly type: "alive" };

export type ObjectChangeKind = "create" | "update" | "delete" | "unchanged" | "blocked";

/** One field that an update changes. */
export interface ChangedField {
  readonly path: string;
  /** JSON of the value, shortened and masked; empty when absent. */
  readonly was: string;
  readonly now: string;
}

/** What applying a unit does to one Kubernetes object. */
export interface RenderedObject {
  readonly kind: string;
  readonly name: string;
  readonly change: ObjectChangeKind;
  readonly fields: readonly ChangedField[];
  /** Further fields that are not listed. */
  readonly moreFields: number;
  /** Why it is blocked. */
  readonly problem?: string;
}

/** A unit as a cluster renders it, compared with its objects there. */
export interface RenderedUnit {
  readonly namespace: string;
  readonly template: string;
  /** The class runtime first. */
  readonly objects: readonly RenderedObject[];
  /** Further objects that are not listed. */
  readonly moreObjects: number;
  readonly warnings: readonly string[];
}

/** The output of functions to read. */
export interface LogQuery {
  readonly functionKey?: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  /** Only lines with this text. */
  readonly contains?: string;
}

/** One line of output of a function. */
export interface LogLine {
  /** Empty when the line is about no pod. */
  readonly pod: string;
  readonly functionKey: string;
  /** Empty when unknown. */
  readonly at: string;
  readonly text: string;
  /** Whether a manager wrote it: why output is missing. */
  readonly isNotice: boolean;
}

/** One HTTP request to a function. */
export interface FunctionRequest {
  readonly functionKey: string;
  /** Empty for the default of the peer. */
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The response of a function, of any status. */
export interface FunctionResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The signals of a class runtime to read; the manager has defaults. */
export interface SignalQuery {
  /** Function key, or `odgm`. */
  readonly component?: string;
  readonly rangeSeconds?: number;
  readonly stepSeconds?: number;
}

/** The object of a class runtime to read. */
export interface ObjectQuery {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
}

/** Reads about one unit. Each throws unimplemented when the peer does not support it. */
export interface InspectionGateway {
  /** Throws failed-precondition when the cluster has no metrics provider. */
  signals(cluster: ClusterName, unitId: UnitId, query: SignalQuery, options?: UnitCallOptions): Promise<RuntimeSignals>;
  /** Throws not-found for an object that does not belong to the unit. */
  object(cluster: ClusterName, unitId: UnitId, query: ObjectQuery, options?: UnitCallOptions): Promise<RuntimeObject>;
  pods(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<RuntimePods>;
  conditions(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<RuntimeConditions>;
}

/** One entry of a stored object. */
export interface StateEntry {
  readonly data: Uint8Array;
  /** Whether the state store merges it as a CRDT map. */
  readonly isCrdt: boolean;
}

export type StateEntries = ReadonlyMap<string, StateEntry>;

/** A partition of a collection. */
export interface StatePartition {
  readonly collection: string;
  readonly partition: number;
}

export interface StateObjectAddress extends StatePartition {
  readonly objectId: string;
}

/** The objects of a partition to list. */
export interface StateObjectQuery extends StatePartition {
  readonly prefix?: string;
  readonly limit: number;
  /** Of the previous page. */
  readonly pageToken?: Uint8Array;
  /** Read after every write that was acknowledged before. */
  readonly fresh: boolean;
}

/** An object without its entries. */
export interface StateObjectSummary {
  readonly objectId: string;
  readonly version: number;
  readonly entryCount: number;
}

/**
 * The objects in the state store of one unit. Each throws failed-precondition when other clusters hold the partition, and
 * unimplemented when the peer does not support it.
 */
export interface StateGateway {
  stateObjects(
    cluster: ClusterName,
    unitId: UnitId,
    query: StateObjectQuery,
    options?: UnitCallOptions,
  ): Promise<{ readonly objects: readonly StateObjectSummary[]; readonly next?: Uint8Array }>;
  stateObject(
    cluster: ClusterName,
    unitId: UnitId,
    address: StateObjectAddress,
    options?: UnitCallOptions,
  ): Promise<{ readonly version: number; readonly entries: StateEntries }>;
  setStateObject(
    cluster: ClusterName,
    unitId: UnitId,
    object: StateObjectAddress & { readonly entries: StateEntries },
    options?: UnitCallOptions,
  ): Promise<void>;
  deleteStateObject(
    cluster: ClusterName,
    unitId: UnitId,
    address: StateObjectAddress,
    options?: UnitCallOptions,
  ): Promise<void>;
}

/**
 * The class runtime managers of all clusters.
 *
 * *Guarantees*: each call has a deadline, and reads are retried within it; a dead cluster fails fast (circuit breaker) and
 * delays no other; faults name the cluster; an unknown cluster is not-found.
 */
export interface CrmGateway extends InspectionGateway, StateGateway {
  /** Sends a unit. Idempotent. */
  deploy(cluster: ClusterName, unit: DeploymentUnit, options?: UnitCallOptions): Promise<void>;
  /** Renders a unit without applying it. Rejects as `deploy`; throws unimplemented when the peer does not support it. */
  render(cluster: ClusterName, unit: DeploymentUnit, options?: UnitCallOptions): Promise<RenderedUnit>;
  /** Removes a unit; a no-op when it does not exist. */
  remove(cluster: ClusterName, unitId: UnitId, options?: RemoveOptions): Promise<void>;
  /** Undefined when the unit does not exist. */
  unit(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<UnitReport | undefined>;
  /** All runtimes of a cluster that match, page by page. */
  runtimes(cluster: ClusterName, query: RuntimeQuery, options?: CallOptions): AsyncIterable<UnitReport>;
  /** All runtimes, then their changes. Throws unimplemented when the peer has no watch: poll instead. */
  watch(cluster: ClusterName, options?: CallOptions): AsyncIterable<RuntimeChange>;
  /** Undefined when the unit does not exist. Throws unimplemented when the peer does not support it. */
  enforcement(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<EnforcementReport | undefined>;
  /** Throws failed-precondition without a metrics API, unimplemented when the peer does not support it. */
  usage(cluster: ClusterName, options?: CallOptions): Promise<readonly ComponentUsage[]>;
  /** Undefined when the peer does not support it. */
  explain(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<FindingWire | undefined>;
  /** Batches of output of the functions of a unit. Throws unimplemented when the peer does not support it. */
  logs(
    cluster: ClusterName,
    unitId: UnitId,
    query: LogQuery,
    options?: UnitCallOptions,
  ): AsyncIterable<readonly LogLine[]>;
  /** Sends one request to a function of a unit. Throws unimplemented when the peer does not support it. */
  invoke(
    cluster: ClusterName,
    unitId: UnitId,
    request: FunctionRequest,
    options?: UnitCallOptions,
  ): Promise<FunctionResponse>;
  /** Lets a node of a state store restart. Idempotent by turn; false when it needs no restart, or the turn is over. */
  grantRestart(cluster: ClusterName, unitId: UnitId, grant: RestartGrant, options?: UnitCallOptions): Promise<boolean>;
  topology(cluster: ClusterName, options?: CallOptions): Promise<Topology>;
  /** Checks the health now, without a cache. */
  health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth>;
}

/** A registered cluster, without its secrets. */
export interface ClusterEntry {
  readonly name: ClusterName;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly retryAttempts: number;
  readonly tls: boolean;
  readonly origin: "configuration" | "api";
  /** Present while the cluster gets no new units. */
  readonly cordon?: Cordon;
  /** The availability that the operator promises. */
  readonly availability?: AvailabilityPrior;
  readonly cost?: ClusterCost;
  /** Namespace of units whose deployment and package state none. */
  readonly defaultNamespace?: string;
  /** Namespaces that deployments may use; absent: all that its manager serves. */
  readonly allowedNamespaces?: readonly string[];
}

/** Who keeps new units out of a cluster, since when and why. */
export interface Cordon {
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  readonly reason?: string;
  /** Present while units are moved away. */
  readonly drain?: Drain;
}

/** A request to move the units out of a cluster. A later request renews it. */
export interface Drain {
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  /** Deployments whose stored objects would be lost are moved too. */
  readonly allowsStateLoss: boolean;
}

/** One reading of the health of a cluster with its age, or the reason why there is none. */
export interface HealthReading {
  readonly cluster: ClusterName;
  /**
   * The last report of the cluster, of any age. Its status is unhealthy while the cluster is unreachable, and unknown when
   * it has never answered.
   */
  readonly health: ClusterHealth;
  /** When the cluster reported it; absent when it has never answered. */
  readonly takenAtMs?: number;
  /** Why the newest attempt failed; absent when it succeeded. */
  readonly error?: string;
  readonly breaker: "closed" | "open" | "half-open";
}

/** The clusters and their health. A read never waits for a cluster that is known to be dead. */
export interface ClusterDirectory {
  list(): readonly ClusterEntry[];
  get(name: ClusterName): ClusterEntry | undefined;
  /** From the cache while it is fresh, else one shared health check. Never rejects: a failure is in the reading. */
  reading(name: ClusterName, options?: CallOptions): Promise<HealthReading>;
  /** The readings of all clusters. With `needed`, only these are awaited; the others return their last reading. */
  readings(options?: CallOptions & { readonly needed?: readonly ClusterName[] }): Promise<readonly HealthReading[]>;
}

/** The files that a cluster registration may name; each is found, or rejected with the reason. */
export interface SecretFolder {
  find(name: string): Result<string, TextProblem>;
}

/** Records changes that no caller requested. */
export interface BackgroundAudit {
  /** Records that a change starts; it must not be made when this rejects. Returns the function that records its end. */
  begin(attempt: {
    /** The part of the package manager that makes the change. */
    readonly by: string;
    readonly action: string;
    readonly target: string;
    readonly correlationId: string;
  }): Promise<(result: { readonly status: number; readonly reason?: string }) => void>;
}
