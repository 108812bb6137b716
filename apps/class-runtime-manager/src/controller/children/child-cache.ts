import type { Fault } from "@oaas/foundation";
import { formatObjectKey, gvkKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { owned, type InformerPool, type InformerView, type KubeClient, type Source } from "@oaas/kube-runtime";
import { collectionNames } from "../../odgm/plan/stored-layout.ts";
import { OWNER_LABEL } from "../../templates/index.ts";
import { CORE_CHILD_KINDS, OPTIONAL_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";

/** The names that identify a kind. */
export type KindName = Pick<ChildKind, "group" | "version" | "kind">;

type ChildView = InformerView<KubeObject, "owner" | "collection">;

const INDEXES = { owner: ownerKeys, collection: collectionsIn };
const CONFIG_MAP: KindName = { group: "", version: "v1", kind: "ConfigMap" };
const SELECTION = { labelSelector: OWNER_LABEL };

/** A child object in the cluster, with its kind. */
export interface LiveChild {
  readonly kind: ChildKind;
  readonly object: Stored<KubeObject>;
}

interface WatchedKind {
  readonly kind: ChildKind;
  readonly view: ChildView;
}

/**
 * Caches the children of all classes, indexed by owner. Only objects with the owner label are watched, so memory grows
 * with the number of classes and not with the size of the cluster. Optional kinds are added and removed at run time.
 */
export class ChildCache {
  readonly #watched = new Map<string, WatchedKind>();
  readonly #subscribers = new Set<(watched: WatchedKind) => void>();
  readonly #pool: InformerPool;
  readonly #namespaces: readonly string[] | undefined;
  #servesPodResize = false;

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined) {
    this.#pool = pool;
    this.#namespaces = namespaces;
    for (const kind of CORE_CHILD_KINDS) this.#watch(kind);
  }

  /** Whether the server resized pods in place at the last discovery. */
  get servesPodResize(): boolean {
    return this.#servesPodResize;
  }

  /**
   * Starts to watch optional kinds that the cluster serves now, and stops for those it no longer serves. Returns
   * whether any changed, or whether pods can be resized.
   */
  async discoverKinds(client: KubeClient, signal: AbortSignal): Promise<boolean> {
    client.discovery.invalidate();
    const resources = await client.discovery.all();
    const served = new Set(resources.map(gvkKey));
    const servesPodResize = resources.some(
      ({ group, resource, subresources }) => group === "" && resource === "pods" && subresources.includes("resize"),
    );
    const isResizeChanged = servesPodResize !== this.#servesPodResize;
    this.#servesPodResize = servesPodResize;
    const added = OPTIONAL_CHILD_KINDS.filter((kind) => served.has(gvkKey(kind)) && !this.#watched.has(gvkKey(kind)));
    const removed = OPTIONAL_CHILD_KINDS.filter((kind) => !served.has(gvkKey(kind)) && this.#isUnserved(kind));
    for (const kind of added) this.#watch(kind);
    for (const kind of removed) {
      this.#watched.delete(gvkKey(kind));
      await this.#pool.release(kind, this.#namespaces, SELECTION);
    }
    if (added.length > 0) await this.#pool.synced(signal);
    return isResizeChanged || added.length + removed.length > 0;
  }

  /** The watched kinds. */
  get kinds(): readonly ChildKind[] {
    return [...this.#watched.values()].map(({ kind }) => kind);
  }

  /** Whether the cluster serves the kind. A kind without read permission counts as served. */
  isServed(kind: KindName): boolean {
    const view = this.#watched.get(gvkKey(kind))?.view;
    return view !== undefined && (view.isSynced || isForbidden(view.fault));
  }

  /** The permission fault of reading this kind in a namespace, if any. */
  readFaultOf(kind: KindName, namespace: string): Fault | undefined {
    const fault = this.#watched.get(gvkKey(kind))?.view.faultIn(namespace);
    return isForbidden(fault) ? fault : undefined;
  }

  /** Lists the objects that have this owner reference. */
  childrenOf(ownerUid: string): LiveChild[] {
    return [...this.#watched.values()].flatMap(({ kind, view }) =>
      view.cache.byIndex("owner", ownerUid).map((object) => ({ kind, object })),
    );
  }

  /** Lists the objects with the owner label of a class and without any owner reference. */
  listOwnerless(namespace: string, label: string): LiveChild[] {
    return this.childrenOf(ownerlessKey(namespace, label));
  }

  /** Lists the ConfigMaps of state stores that have this collection. */
  listStoresOf(collection: string): readonly Stored<KubeObject>[] {
    const view = this.#watched.get(gvkKey(CONFIG_MAP))?.view;
    return view?.cache.byIndex("collection", collection) ?? [];
  }

  get(kind: KindName, key: ObjectKey): Stored<KubeObject> | undefined {
    return this.#watched.get(gvkKey(kind))?.view.get(key);
  }

  /** Enqueues the owner of every changed child, including kinds discovered later. */
  source(owner: { readonly group: string; readonly kind: string }): Source {
    return (enqueue) => {
      const subscriptions: (() => void)[] = [];
      const subscribe = ({ view }: WatchedKind): void => void subscriptions.push(owned(view, owner)(enqueue));
      for (const watched of this.#watched.values()) subscribe(watched);
      this.#subscribers.add(subscribe);
      return () => {
        this.#subscribers.delete(subscribe);
        for (const unsubscribe of subscriptions) unsubscribe();
      };
    };
  }

  #watch(kind: ChildKind): void {
    const view = this.#pool.view(kind, this.#namespaces, SELECTION, { indexes: INDEXES, isOptional: true });
    const watched = { kind, view };
    this.#watched.set(gvkKey(kind), watched);
    for (const subscribe of this.#subscribers) subscribe(watched);
  }

  /** Discovery can be wrong for a moment. A kind is unserved when listing it fails with 404 too. */
  #isUnserved(kind: ChildKind): boolean {
    return this.#watched.get(gvkKey(kind))?.view.fault?.kind === "not-found";
  }
}

/** The uids of the owners; without any, a key made of the owner label. */
function ownerKeys({ metadata }: Stored<KubeObject>): string[] {
  const { namespace = "", labels, ownerReferences = [] } = metadata;
  if (ownerReferences.length > 0) return ownerReferences.map(({ uid }) => uid);
  return [ownerlessKey(namespace, labels?.[OWNER_LABEL] ?? "")];
}

function collectionsIn(object: Stored<KubeObject>): string[] {
  return object.kind === CONFIG_MAP.kind ? [...collectionNames(object)] : [];
}

function ownerlessKey(namespace: string, label: string): string {
  return `${namespace}/${label}`;
}

function isForbidden(fault: Fault | undefined): boolean {
  return fault?.kind === "permission-denied";
}

/** Identifies a child in the cluster. */
export function childId(kind: KindName, object: KubeObject): string {
  return `${gvkKey(kind)} ${formatObjectKey(keyOf(object))}`;
}
