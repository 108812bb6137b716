import { formatObjectKey, keyOf, refOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";

/** What was sent for one class. */
export interface Sent {
  /** The uid of the class. */
  readonly uid: string;
  readonly children: readonly KubeObject[];
}

/**
 * What was sent to be written by passes that did not come to their end. Status does not name it yet, so that nobody else would find a child which
 * loses its label in that very moment and is not wanted by the next pass, or whose class went away meanwhile: the server may delete a class in the
 * same moment in which it takes our finalizer. Empty for every class whose last pass came through.
 */
export class SentChildren {
  readonly #byClass = new Map<string, Sent>();

  /** Notes what a pass is about to send. */
  note(owner: Stored<KubeObject>, children: readonly KubeObject[]): void {
    const before = this.of(owner);
    const all = before.length === 0 ? children : distinct([...before, ...children]);
    this.#byClass.set(idOf(keyOf(owner)), { uid: owner.metadata.uid, children: all });
  }

  /** What was sent for this class. */
  of(owner: Stored<KubeObject>): readonly KubeObject[] {
    const sent = this.#byClass.get(idOf(keyOf(owner)));
    return sent?.uid === owner.metadata.uid ? sent.children : [];
  }

  /** What was sent for a class of this name other than the one that has it now. */
  ofFormer(key: ObjectKey, now: Stored<KubeObject> | undefined): Sent | undefined {
    const sent = this.#byClass.get(idOf(key));
    return sent?.uid === now?.metadata.uid ? undefined : sent;
  }

  /** Status names everything that was sent, or it is gone. */
  told(key: ObjectKey): void {
    this.#byClass.delete(idOf(key));
  }
}

/** Without those of `these`, by kind and name. */
export function without(all: readonly KubeObject[], these: readonly KubeObject[]): readonly KubeObject[] {
  const known = new Set(these.map(childOf));
  return all.filter((object) => !known.has(childOf(object)));
}

function distinct(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...new Map(objects.map((object) => [childOf(object), object])).values()];
}

function childOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = refOf(object);
  return [apiVersion, kind, namespace, name].join(" ");
}

function idOf(key: ObjectKey): string {
  return formatObjectKey(key);
}
