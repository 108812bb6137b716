import type { KubeObject } from "@oaas/kube-core";
import type { InformerPool, InformerView } from "@oaas/kube-runtime";
import {
  crdNameOf,
  CUSTOM_RESOURCE_DEFINITIONS,
  OPTIONAL_CHILD_KINDS,
  type ChildKind,
} from "../kinds/resource-types.ts";

/**
 * Watches the CustomResourceDefinitions of the optional kinds, each by its name: the manager reads no other definition
 * and needs no permission for others.
 */
export class KindDefinitions {
  readonly #views: ReadonlyMap<string, InformerView<KubeObject>>;

  constructor(pool: InformerPool) {
    this.#views = new Map(
      OPTIONAL_CHILD_KINDS.map(crdNameOf).map((name) => [
        name,
        pool.informer(CUSTOM_RESOURCE_DEFINITIONS, { fieldSelector: `metadata.name=${name}` }, { isOptional: true }),
      ]),
    );
  }

  /** Whether the kind is defined; undefined while that is unknown, for example without read permission. */
  has(kind: ChildKind): boolean | undefined {
    const name = crdNameOf(kind);
    const view = this.#views.get(name);
    if (view === undefined || !view.isSynced || view.fault !== undefined) return undefined;
    return view.get({ namespace: "", name }) !== undefined;
  }

  /**
   * Calls the listener for every change of a definition, and at once for existing ones. Returns the unsubscribe
   * function.
   */
  onChange(listener: () => void): () => void {
    const subscriptions = [...this.#views.values()].map((view) => view.onChange(listener));
    return () => {
      for (const unsubscribe of subscriptions) unsubscribe();
    };
  }
}
