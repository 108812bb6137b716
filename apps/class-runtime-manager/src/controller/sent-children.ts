import { refOf, type KubeObject } from "@oaas/kube-core";
import type { InformerView } from "@oaas/kube-runtime";

/**
 * What was sent to be written by passes that did not come to their end. Status does not name it yet, so that a child which loses its label in that
 * very moment, and is not wanted by the next pass, would be found by nobody. Empty for every class whose last pass came through.
 */
export class SentChildren<T extends KubeObject> {
  readonly #byClass = new Map<string, readonly KubeObject[]>();

  constructor(classes: Pick<InformerView<T>, "onChange">) {
    classes.onChange(({ type, object }) => {
      if (type === "deleted") this.told(object.metadata.uid);
    });
  }

  /** Notes what a pass is about to send for the class with this uid. */
  note(uid: string, children: readonly KubeObject[]): void {
    const before = this.#byClass.get(uid);
    this.#byClass.set(uid, before === undefined ? children : distinct([...before, ...children]));
  }

  /** Status names everything that was sent. */
  told(uid: string): void {
    this.#byClass.delete(uid);
  }

  of(uid: string): readonly KubeObject[] {
    return this.#byClass.get(uid) ?? [];
  }
}

/** Without those of `these`, by kind and name. */
export function without(all: readonly KubeObject[], these: readonly KubeObject[]): readonly KubeObject[] {
  const known = new Set(these.map(idOf));
  return all.filter((object) => !known.has(idOf(object)));
}

function distinct(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...new Map(objects.map((object) => [idOf(object), object])).values()];
}

function idOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = refOf(object);
  return [apiVersion, kind, namespace, name].join(" ");
}
