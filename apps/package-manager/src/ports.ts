import type { DeploymentUnit } from "@oaas/contracts/grpc";
import type { FindingWire } from "@oaas/contracts/rest";
import type { Result } from "@oaas/foundation";
import type {
  ClassRuntime,
  ClusterHealth,
  ClusterName,
  DeploymentCondition,
  LifecyclePhase,
  Objection,
  Topology,
  UnitId,
} from "@oaas/models";

/**
 * What the package manager needs from outside. The key-value store is a port of its own (`@oaas/storage`).
 *
 * Every call takes a signal; a deadline is the caller's, kept by the adapter for its own calls as well.
 */

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface RemoveOptions extends CallOptions {
  /** Goes with the call: the cluster refuses (failed-precondition) when it has a newer revision of the unit. */
  readonly revision?: number;
}

/** What one cluster says about one unit. */
export interface UnitReport {
  readonly unitId: UnitId;
  readonly runtime: ClassRuntime;
  readonly condition: DeploymentCondition;
  /** The finer phase, where the cluster's manager tells it. */
  readonly phase?: LifecyclePhase;
  readonly message?: string;
  /** The digest and the revision that were sent with the unit, where the cluster's manager echoes them. */
  readonly digest?: string;
  readonly revision?: number;
  /** Counts what was written to it in the cluster, by whomever, where the cluster's manager tells it. */
  readonly generation?: number;
  /** Who deployed it, where known. A unit of somebody else is never touched. */
  readonly managedBy?: string;
  readonly deploymentKey?: string;
  /** Replicas per function that the cluster recommends from what it measured. */
  readonly recommendedReplicas?: Readonly<Record<string, number>>;
}

/** Which runtimes are asked for. */
export interface RuntimeQuery {
  readonly packageName?: string;
  readonly classKey?: string;
  readonly environment?: string;
  readonly condition?: DeploymentCondition;
}

export type RuntimeChange =
  /** A whole account begins; `synced` ends it. */
  | { readonly type: "syncing" }
  | { readonly type: "changed"; readonly report: UnitReport }
  | { readonly type: "removed"; readonly unitId: UnitId }
  /** Everything that is there has been told since `syncing`: what was not, does not exist. */
  | { readonly type: "synced" }
  /** Nothing happened, and the stream lives. */
  | { readonly type: "alive" };

/**
 * The class runtime managers of all clusters.
 *
 * *Guarantees*: each call has a deadline and is tried again as its fault allows, never longer; a dead cluster fails fast
 * (breaker) and delays no other; faults name the cluster; an unknown cluster is not-found.
 */
export interface CrmGateway {
  /** Sends a unit; the same unit twice is the same as once. */
  deploy(cluster: ClusterName, unit: DeploymentUnit, options?: CallOptions): Promise<void>;
  /** Removes a unit; one that is not there is removed. */
  remove(cluster: ClusterName, unitId: UnitId, options?: RemoveOptions): Promise<void>;
  /** Undefined when the cluster says there is no such unit. */
  unit(cluster: ClusterName, unitId: UnitId, options?: CallOptions): Promise<UnitReport | undefined>;
  /** All runtimes of a cluster that match, page after page. */
  runtimes(cluster: ClusterName, query: RuntimeQuery, options?: CallOptions): AsyncIterable<UnitReport>;
  /** Changes from now on, after everything that is there. Unimplemented where the peer has no watch: poll instead. */
  watch(cluster: ClusterName, options?: CallOptions): AsyncIterable<RuntimeChange>;
  /** Undefined when the peer cannot explain. */
  explain(cluster: ClusterName, unitId: UnitId, options?: CallOptions): Promise<FindingWire | undefined>;
  topology(cluster: ClusterName, options?: CallOptions): Promise<Topology>;
  /** Asks now, past every cache. */
  health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth>;
}

/** How PM knows a cluster; secrets stay inside the gateway. */
export interface ClusterEntry {
  readonly name: ClusterName;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly retryAttempts: number;
  readonly tls: boolean;
  readonly origin: "configuration" | "api";
}

/** One reading of a cluster's health with its age, or why there is none. */
export interface HealthReading {
  readonly cluster: ClusterName;
  /**
   * What the cluster last said, however long ago; its status is unhealthy while the cluster cannot be asked, unknown when it never answered.
   */
  readonly health: ClusterHealth;
  /** When it said so; absent when it never did. */
  readonly takenAtMs?: number;
  /** Why the newest attempt failed; absent when it succeeded. */
  readonly error?: string;
  readonly breaker: "closed" | "open" | "half-open";
}

/** The clusters and their health, as of the last check; reading it never waits for a cluster that is known to be dead. */
export interface ClusterDirectory {
  list(): readonly ClusterEntry[];
  get(name: ClusterName): ClusterEntry | undefined;
  /** From the cache while it is fresh, else asked once for all who wait. Never rejects: a failure is in the reading. */
  reading(name: ClusterName, options?: CallOptions): Promise<HealthReading>;
  /** Of every cluster. With `needed` only those are waited for; of the others what was last heard is told as it is. */
  readings(options?: CallOptions & { readonly needed?: readonly ClusterName[] }): Promise<readonly HealthReading[]>;
}

/** The files that a cluster registration may name; each is found, or rejected with the reason. */
export interface SecretFolder {
  find(name: string): Result<string, Objection>;
}
