import type { Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";

/** A kind as in paths: `{ group: "apps", resource: "deployments" }`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** An object. Cluster-scoped ones have no namespace. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * The server as its own controllers (garbage collector, namespaces, workload simulation) see it: the same verbs and
 * admission as for any client, without HTTP. Reads return the current state; results must not be mutated.
 */
export interface ClusterObjects {
  get(kind: ResourceName, name: ObjectName): JsonObject | undefined;
  /** Ordered by namespace and name. */
  list(kind: ResourceName, namespace?: string): readonly JsonObject[];
  /** Objects with this uid in an owner reference, of any kind; from an index. */
  dependentsOf(uid: string): readonly DependentObject[];
  create(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  /** A whole object; rejected with Conflict when its resourceVersion is outdated. */
  update(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  updateStatus(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  delete(kind: ResourceName, name: ObjectName, options: DeleteOptions): Promise<Result<JsonObject, Status>>;
  /**
   * As a POST or PUT to a subresource does. Controllers need `binding` of pods (with a Binding) and `finalize` of
   * namespaces (with the namespace without its spec finalizers): the main path may change neither `spec.nodeName` nor
   * `spec.finalizers`.
   */
  writeSubresource(
    kind: ResourceName,
    name: ObjectName,
    subresource: "binding" | "finalize",
    body: JsonObject,
    writer: string,
  ): Promise<Result<JsonObject, Status>>;
  /**
   * Called after each commit, in order, synchronously; `previous` is missing for a new object, `object` for a deleted
   * one.
   */
  onChange(listener: (change: ObjectChange) => void): () => void;
  /** Kinds that are currently served, including custom ones. */
  kinds(): readonly ServedKind[];
}

/** A kind as owner references (by name) and namespaces (by scope) need it; every `Kind` is one. */
export interface ServedKind extends ResourceName {
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export interface DependentObject {
  readonly kind: ResourceName;
  readonly object: JsonObject;
}

export interface ObjectChange {
  readonly kind: ResourceName;
  readonly object?: JsonObject;
  readonly previous?: JsonObject;
}

export interface DeleteOptions {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
  /**
   * Rejects with Conflict when this version is outdated, because the garbage collector decided on the version it read.
   */
  readonly resourceVersion?: string;
}

/** A controller of the server. It acts only on changes and timers. */
export interface ServerController {
  readonly name: string;
  /** Processes everything once, then follows changes. */
  start(): void;
  /** Whether nothing is left to do now (pending timers do not count). */
  isIdle(): boolean;
  stop(): void;
}
