import type { KubeObject } from "@oaas/kube-core";
import type { InformerPool, InformerView } from "@oaas/kube-runtime";
import { definitionOf, DEFINITIONS, OPTIONAL_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";

/**
 * Whether the kinds of other projects are defined in the cluster, told the moment that changes. Each definition is watched by its name: however many a cluster
 * has, these are all that is read, and all that the account needs the right to.
 */
export class KindDefinitions {
  readonly #views: ReadonlyMap<string, InformerView<KubeObject>>;

  constructor(pool: InformerPool) {
    this.#views = new Map(
      OPTIONAL_CHILD_KINDS.map(definitionOf).map((name) => [
        name,
        pool.informer(DEFINITIONS, { fieldSelector: `metadata.name=${name}` }, { mayBeRefused: true }),
      ]),
    );
  }

  /** Whether there is a definition of the kind; undefined while that cannot be told, because we may not read it, say. */
  has(kind: ChildKind): boolean | undefined {
    const name = definitionOf(kind);
    const view = this.#views.get(name);
    if (view === undefined || !view.isSynced || view.trouble !== undefined) return undefined;
    return view.get({ namespace: "", name }) !== undefined;
  }

  /** Tells of every definition that comes, changes or goes, and at once of those that are there. The answer ends that. */
  onChange(listener: () => void): () => void {
    const ends = [...this.#views.values()].map((view) => view.onChange(listener));
    return () => {
      for (const end of ends) end();
    };
  }
}
