import type { Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";

/** Which kind, as paths name it: `{ group: "apps", resource: "deployments" }`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** Which object. Cluster-scoped ones have no namespace. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * What the server's own controllers (garbage collector, namespaces, workload simulation) see of it: the same verbs as any client,
 * with the same admission, without HTTP. Reads are of the present state, never stale; what they give must not be changed.
 */
export interface ClusterObjects {
  get(kind: ResourceName, name: ObjectName): JsonObject | undefined;
  /** In order of namespace and name. */
  list(kind: ResourceName, namespace?: string): readonly JsonObject[];
  /** Objects that name this uid in an owner reference, of whatever kind; from an index. */
  dependentsOf(uid: string): readonly DependentObject[];
  create(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  /** A whole object; refused with Conflict when it carries a resourceVersion that is not the present one. */
  update(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  updateStatus(kind: ResourceName, object: JsonObject, writer: string): Promise<Result<JsonObject, Status>>;
  delete(kind: ResourceName, name: ObjectName, options: DeleteOptions): Promise<Result<JsonObject, Status>>;
  /**
   * As a POST or PUT to a subresource does. `binding` of pods (a Binding in) and `finalize` of namespaces (the namespace without the
   * finalizers of its spec in) are the two that controllers need: the main path may change neither `spec.nodeName` nor `spec.finalizers`.
   */
  writeSubresource(
    kind: ResourceName,
    name: ObjectName,
    subresource: "binding" | "finalize",
    body: JsonObject,
    writer: string,
  ): Promise<Result<JsonObject, Status>>;
  /** Calls back after each commit, in order, synchronously; `previous` is missing for a new object, `object` for one that is gone. */
  onChange(listener: (change: ObjectChange) => void): () => void;
  /** Kinds that are served at present, those of definitions too. */
  kinds(): readonly ServedKind[];
}

/** A kind as owner references (by its name) and namespaces (by its scope) need it; every `Kind` is one. */
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
  /** Refused with Conflict when this is not the present version: the garbage collector decided on what it saw. */
  readonly resourceVersion?: string;
}

/** A controller of the server itself. It acts on changes and on its timers only, and is idle when nothing happens. */
export interface ServerController {
  readonly name: string;
  /** Looks at everything once, then follows changes. */
  start(): void;
  /** Whether nothing is left to do now (timers that wait for a later time do not count). */
  isIdle(): boolean;
  stop(): void;
}
