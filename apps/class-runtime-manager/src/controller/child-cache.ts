import { formatObjectKey, gvkKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { owned, type Informer, type InformerPool, type KubeClient, type Source } from "@oaas/kube-runtime";
import { OWNER_LABEL } from "../templates/index.ts";
import { CORE_CHILD_KINDS, OPTIONAL_CHILD_KINDS, type ChildKind } from "./kinds.ts";

type ChildInformer = Informer<KubeObject, "owner">;

const byOwner = (object: Stored<KubeObject>): string[] => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid);
const INDEXES = { owner: byOwner };

/** A child as it is in the cluster, and the kind that finds it. */
export interface PresentChild {
  readonly kind: ChildKind;
  readonly object: Stored<KubeObject>;
}

/**
 * The children of all classes, by owner. Only objects with our owner label are watched, so that memory follows the number of classes and not the
 * size of the cluster.
 */
export class ChildCache {
  readonly #informers = new Map<string, { readonly kind: ChildKind; readonly informer: ChildInformer }>();
  readonly #pool: InformerPool;
  readonly #namespace: string | undefined;

  constructor(pool: InformerPool, namespace: string | undefined) {
    this.#pool = pool;
    this.#namespace = namespace;
    for (const kind of CORE_CHILD_KINDS) this.#follow(kind);
  }

  /** Begins to follow optional kinds that the cluster serves by now; answers which are new. */
  async followServed(client: KubeClient): Promise<readonly ChildKind[]> {
    const added: ChildKind[] = [];
    for (const kind of OPTIONAL_CHILD_KINDS) {
      if (this.#informers.has(gvkKey(kind)) || !(await client.discovery.find(kind))) continue;
      this.#follow(kind);
      added.push(kind);
    }
    return added;
  }

  /** Kinds that are followed. */
  get kinds(): readonly ChildKind[] {
    return [...this.#informers.values()].map(({ kind }) => kind);
  }

  isFollowed(gvk: { readonly group: string; readonly version: string; readonly kind: string }): boolean {
    return this.#informers.has(gvkKey(gvk));
  }

  /** Everything that names this object as an owner. */
  childrenOf(ownerUid: string): PresentChild[] {
    return [...this.#informers.values()].flatMap(({ kind, informer }) =>
      informer.cache.byIndex("owner", ownerUid).map((object) => ({ kind, object })),
    );
  }

  get(kind: ChildKind, key: ObjectKey): Stored<KubeObject> | undefined {
    return this.#informers.get(gvkKey(kind))?.informer.get(key);
  }

  /** Wakes the owner of every child that changes. */
  sources(owner: { readonly group: string; readonly kind: string }): Source[] {
    return [...this.#informers.values()].map(({ informer }) => owned(informer, owner));
  }

  #follow(kind: ChildKind): void {
    const selection = {
      labelSelector: OWNER_LABEL,
      ...(this.#namespace === undefined ? {} : { namespace: this.#namespace }),
    };
    this.#informers.set(gvkKey(kind), { kind, informer: this.#pool.informer(kind, selection, { indexes: INDEXES }) });
  }
}

/** A child's identity within its namespace. */
export function childId(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  object: KubeObject,
): string {
  return `${gvkKey(kind)} ${formatObjectKey(keyOf(object))}`;
}
