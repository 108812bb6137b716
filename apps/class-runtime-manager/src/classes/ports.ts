import type { ClassRuntime } from "@oaas/contracts/crd";
import type { ObjectKey } from "@oaas/kube-core";
import type { UnitObject } from "../mapping/unit/unit-to-class-runtime.ts";

/** A class runtime as the server has it. */
export type StoredClass = ClassRuntime & {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly namespace: string };
  /** The kind it is written as, when it is another than ClassRuntime. Such a class is read here, but changed only where it was made. */
  readonly writtenAs?: "DeploymentRecord";
};

/** How one class runtime changed. */
export type ClassChange =
  | { readonly type: "added"; readonly object: StoredClass }
  | { readonly type: "updated"; readonly object: StoredClass; readonly previous: StoredClass }
  | { readonly type: "deleted"; readonly object: StoredClass };

/** The class runtimes of all served namespaces, from a cache; what this process wrote shows at once. */
export interface ClassDirectory {
  /** Whether it holds everything that is there. */
  readonly isSynced: boolean;
  readonly size: number;
  /** Those known by this id, one per namespace and kind at most; class runtimes before those written as another kind. */
  find(deploymentId: string): readonly StoredClass[];
  list(): Iterable<StoredClass>;
  /** Tells of everything there, then of every change, in order. The answer ends that. */
  onChange(handler: (change: ClassChange) => void): () => void;
}

/** Class runtimes on the server itself. */
export interface ClassStore {
  /** As it is at this moment. */
  read(key: ObjectKey, signal: AbortSignal): Promise<StoredClass | undefined>;
  /**
   * Makes the object be what the unit says, over what was read; a conflict fault when it has changed since. Without `over` it is
   * made anew; a conflict fault when there is one of that name.
   */
  write(unit: UnitObject, over: StoredClass | undefined, signal: AbortSignal): Promise<StoredClass>;
  /** Asks for the deletion of this very object: a later one of the same name is a conflict fault. */
  remove(object: StoredClass, signal: AbortSignal): Promise<void>;
}
