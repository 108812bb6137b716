import type { Fault } from "@oaas/foundation";
import { formatObjectKey, gvkKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { owned, type InformerPool, type InformerView, type KubeClient, type Source } from "@oaas/kube-runtime";
import { OWNER_LABEL } from "../../templates/index.ts";
import { CORE_CHILD_KINDS, OPTIONAL_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";

type ChildView = InformerView<KubeObject, "owner">;

const INDEXES = { owner: ownersOf };
const SELECTION = { labelSelector: OWNER_LABEL };

/** A child as it is in the cluster, and the kind that finds it. */
export interface PresentChild {
  readonly kind: ChildKind;
  readonly object: Stored<KubeObject>;
}

/** A kind by its names. */
export type KindName = Pick<ChildKind, "group" | "version" | "kind">;

interface Followed {
  readonly kind: ChildKind;
  readonly view: ChildView;
}

/**
 * The children of all classes, by owner. Only objects with our owner label are watched, so that memory follows the number of classes and not the
 * size of the cluster. Kinds of other projects come and go while we run.
 */
export class ChildCache {
  readonly #followed = new Map<string, Followed>();
  readonly #subscribers = new Set<(followed: Followed) => void>();
  readonly #pool: InformerPool;
  readonly #namespaces: readonly string[] | undefined;

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined) {
    this.#pool = pool;
    this.#namespaces = namespaces;
    for (const kind of CORE_CHILD_KINDS) this.#follow(kind);
  }

  /** Follows the optional kinds that the cluster serves by now, and gives up those that it no longer does; answers whether any came or went. */
  async lookForKinds(client: KubeClient, signal: AbortSignal): Promise<boolean> {
    client.discovery.invalidate();
    const served = new Set((await client.discovery.all()).map(gvkKey));
    const found = OPTIONAL_CHILD_KINDS.filter((kind) => served.has(gvkKey(kind)) && !this.#followed.has(gvkKey(kind)));
    const lost = OPTIONAL_CHILD_KINDS.filter((kind) => !served.has(gvkKey(kind)) && this.#isAway(kind));
    for (const kind of found) this.#follow(kind);
    for (const kind of lost) {
      this.#followed.delete(gvkKey(kind));
      await this.#pool.release(kind, this.#namespaces, SELECTION);
    }
    if (found.length > 0) await this.#pool.synced(signal);
    return found.length + lost.length > 0;
  }

  /** Kinds that are followed. */
  get kinds(): readonly ChildKind[] {
    return [...this.#followed.values()].map(({ kind }) => kind);
  }

  /** Whether the cluster serves the kind, as far as is known. One that we may not read is served all the same. */
  serves(kind: KindName): boolean {
    const view = this.#followed.get(gvkKey(kind))?.view;
    return view !== undefined && (view.isSynced || isRefused(view.trouble));
  }

  /** Why objects of this kind cannot be read in a namespace; undefined while they can. */
  refusalOf(kind: KindName, namespace: string): Fault | undefined {
    const trouble = this.#followed.get(gvkKey(kind))?.view.troubleIn(namespace);
    return isRefused(trouble) ? trouble : undefined;
  }

  /** Everything that names this object as an owner. */
  childrenOf(ownerUid: string): PresentChild[] {
    return [...this.#followed.values()].flatMap(({ kind, view }) =>
      view.cache.byIndex("owner", ownerUid).map((object) => ({ kind, object })),
    );
  }

  /** What has the owner label of a class and names no owner at all. */
  ownerless(namespace: string, label: string): PresentChild[] {
    return this.childrenOf(ownerlessOf(namespace, label));
  }

  get(kind: KindName, key: ObjectKey): Stored<KubeObject> | undefined {
    return this.#followed.get(gvkKey(kind))?.view.get(key);
  }

  /** Wakes the owner of every child that changes, also of kinds that are found later. */
  source(owner: { readonly group: string; readonly kind: string }): Source {
    return (enqueue) => {
      const ends: (() => void)[] = [];
      const subscribe = ({ view }: Followed): void => void ends.push(owned(view, owner)(enqueue));
      for (const followed of this.#followed.values()) subscribe(followed);
      this.#subscribers.add(subscribe);
      return () => {
        this.#subscribers.delete(subscribe);
        for (const end of ends) end();
      };
    };
  }

  #follow(kind: ChildKind): void {
    const view = this.#pool.view(kind, this.#namespaces, SELECTION, { indexes: INDEXES, mayBeRefused: true });
    const followed = { kind, view };
    this.#followed.set(gvkKey(kind), followed);
    for (const subscribe of this.#subscribers) subscribe(followed);
  }

  /** Discovery alone may err for a moment: a kind is away when its list is not found either. */
  #isAway(kind: ChildKind): boolean {
    return this.#followed.get(gvkKey(kind))?.view.trouble?.kind === "not-found";
  }
}

/** The uids of its owners, or the class that it says to belong to without naming one. */
function ownersOf({ metadata }: Stored<KubeObject>): string[] {
  const { namespace = "", labels, ownerReferences = [] } = metadata;
  if (ownerReferences.length > 0) return ownerReferences.map(({ uid }) => uid);
  return [ownerlessOf(namespace, labels?.[OWNER_LABEL] ?? "")];
}

function ownerlessOf(namespace: string, label: string): string {
  return `${namespace}/${label}`;
}

function isRefused(trouble: Fault | undefined): boolean {
  return trouble?.kind === "permission-denied";
}

/** A child's identity within its namespace. */
export function childId(kind: KindName, object: KubeObject): string {
  return `${gvkKey(kind)} ${formatObjectKey(keyOf(object))}`;
}
