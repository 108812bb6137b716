import type { ClassRuntime } from "@oaas/contracts/crd";
import type { ObjectKey } from "@oaas/kube-core";
import type { ObjectPreview } from "../controller/reconcile/preview-class.ts";
import type { Environment } from "../rendering/model/cluster-facts.ts";
import type { UnitObject } from "../mapping/unit/unit-to-class-runtime.ts";

/** A class runtime in the cluster. */
export type StoredClass = ClassRuntime & {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly namespace: string };
  /** The kind of the object if it is not a ClassRuntime. Such a class is read-only over gRPC. */
  readonly storedAs?: "DeploymentRecord";
};

/** A change of one class runtime. */
export type ClassChange =
  | { readonly type: "added"; readonly object: StoredClass }
  | { readonly type: "updated"; readonly object: StoredClass; readonly previous: StoredClass }
  | { readonly type: "deleted"; readonly object: StoredClass };

/** The class runtimes of all served namespaces, from a cache. Own writes are visible at once. */
export interface ClassDirectory {
  /** Whether the cache has completed its first list. */
  readonly isSynced: boolean;
  readonly size: number;
  /** The objects with this deployment id: at most one per namespace and kind, class runtimes first. */
  find(deploymentId: string): readonly StoredClass[];
  list(): Iterable<StoredClass>;
  /** Calls the handler for every existing object, then for every change in order. Returns the unsubscribe function. */
  onChange(handler: (change: ClassChange) => void): () => void;
}

/** Creates the namespaces of classes. */
export interface NamespaceProvisioner {
  /**
   * Creates the namespace if it is missing, and applies the limits of the environment to a namespace that it created.
   * Throws unavailable while the namespace is being deleted.
   */
  ensure(namespace: string, environment: Environment | undefined, signal: AbortSignal): Promise<void>;
  /** Applies the limits of the environment to a namespace that the manager created; others are left alone. */
  update(namespace: string, environment: Environment | undefined, signal: AbortSignal): Promise<void>;
  /** The namespace and the limits that `ensure` would create, change or delete, without writing. Throws what it throws. */
  preview(
    namespace: string,
    environment: Environment | undefined,
    signal: AbortSignal,
  ): Promise<readonly ObjectPreview[]>;
}

/** Class runtimes on the API server. */
export interface ClassStore {
  /** Reads the current object. */
  read(key: ObjectKey, signal: AbortSignal): Promise<StoredClass | undefined>;
  /**
   * Writes the object of a unit over the version that was read. Without `over` it creates the object. Throws a conflict
   * fault if the object changed since, or already exists.
   */
  write(unit: UnitObject, over: StoredClass | undefined, signal: AbortSignal): Promise<StoredClass>;
  /** Asks the API server by a dry run whether it would accept `write`. Throws what `write` would throw, except a conflict. */
  check(unit: UnitObject, over: StoredClass | undefined, signal: AbortSignal): Promise<void>;
  /** Deletes this object by uid. Throws a conflict fault if another object has its name. */
  remove(object: StoredClass, signal: AbortSignal): Promise<void>;
}
