import { formatObjectKey, keyOf, refOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";

/** The unconfirmed writes of one class. */
export interface UnconfirmedWrites {
  /** The uid of the class. */
  readonly uid: string;
  readonly children: readonly KubeObject[];
}

/**
 * Records the children that an incomplete reconcile pass applied. The status does not list them yet. Without this
 * record, two kinds of children would be orphaned: a child that loses its label and is removed from the desired state,
 * and a child whose class was deleted before our finalizer was stored. Empty for a class whose last pass completed.
 */
export class UnconfirmedChildren {
  readonly #byClass = new Map<string, UnconfirmedWrites>();

  /** Records the children that a pass is about to send. */
  record(owner: Stored<KubeObject>, children: readonly KubeObject[]): void {
    const earlier = this.of(owner);
    const all = earlier.length === 0 ? children : distinct([...earlier, ...children]);
    this.#byClass.set(formatObjectKey(keyOf(owner)), { uid: owner.metadata.uid, children: all });
  }

  /** Unconfirmed children of this class. */
  of(owner: Stored<KubeObject>): readonly KubeObject[] {
    const writes = this.#byClass.get(formatObjectKey(keyOf(owner)));
    return writes?.uid === owner.metadata.uid ? writes.children : [];
  }

  /** Unconfirmed children of a deleted class that had the name of `current`. */
  ofPredecessor(key: ObjectKey, current: Stored<KubeObject> | undefined): UnconfirmedWrites | undefined {
    const writes = this.#byClass.get(formatObjectKey(key));
    return writes?.uid === current?.metadata.uid ? undefined : writes;
  }

  /** Forgets the children of a class: its status lists all of them, or they are deleted. */
  clear(key: ObjectKey): void {
    this.#byClass.delete(formatObjectKey(key));
  }
}

/** The objects of `all` that are not in `excluded`, by kind and name. */
export function excludeChildren(all: readonly KubeObject[], excluded: readonly KubeObject[]): readonly KubeObject[] {
  const known = new Set(excluded.map(identityOf));
  return all.filter((object) => !known.has(identityOf(object)));
}

function distinct(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...new Map(objects.map((object) => [identityOf(object), object])).values()];
}

function identityOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = refOf(object);
  return [apiVersion, kind, namespace, name].join(" ");
}
