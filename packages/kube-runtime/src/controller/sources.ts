import { keyOf, parseApiVersion, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { InformerView } from "../cache/informer.ts";
import type { Change } from "../cache/store.ts";
import type { Predicate } from "./predicates.ts";

/** Enqueues a key in a controller's queue. */
export type Enqueue = (key: ObjectKey, options?: { readonly priority?: number }) => void;

/** A source of keys: subscribes when called; the returned function unsubscribes. */
export type Source = (enqueue: Enqueue) => () => void;

/** Filter and priority of a source. */
export interface SourceOptions<T extends KubeObject> {
  /** Only changes that match. */
  readonly when?: Predicate<T>;
  /** Default normal; see `PRIORITY`. */
  readonly priority?: number;
}

/** A kind that owns others; any `ResourceType` is one. */
export interface OwnerKind {
  readonly group: string;
  readonly kind: string;
  /** Default true. */
  readonly namespaced?: boolean;
}

/** The reconciled objects themselves. */
export function own<T extends KubeObject, I extends string>(
  informer: Pick<InformerView<T, I>, "onChange">,
  options: SourceOptions<T> = {},
): Source {
  return mapped(informer, (object) => [keyOf(object)], options);
}

/**
 * Child objects: the key is that of the owner of the given kind, in the child's namespace or, for a cluster-scoped
 * owner, without one.
 */
export function owned<T extends KubeObject, I extends string>(
  informer: Pick<InformerView<T, I>, "onChange">,
  owner: OwnerKind,
  options: SourceOptions<T> = {},
): Source {
  return mapped(informer, (object) => ownersOf(object, owner), options);
}

/** Other objects: a function maps a change to the affected keys. An update maps both the old and the new state. */
export function mapped<T extends KubeObject, I extends string>(
  informer: Pick<InformerView<T, I>, "onChange">,
  keysOf: (object: Stored<T>) => readonly ObjectKey[],
  options: SourceOptions<T> = {},
): Source {
  return (enqueue) =>
    informer.onChange((change: Change<T>) => {
      if (options.when && !options.when(change)) return;
      const keys = keysOf(change.object);
      const before = change.type === "updated" ? keysOf(change.previous) : [];
      for (const key of [...keys, ...before]) {
        enqueue(key, options.priority === undefined ? {} : { priority: options.priority });
      }
    });
}

function ownersOf(object: KubeObject, owner: OwnerKind): ObjectKey[] {
  const namespace = owner.namespaced === false ? "" : (object.metadata.namespace ?? "");
  return (object.metadata.ownerReferences ?? [])
    .filter(({ apiVersion, kind }) => {
      const parsed = parseApiVersion(apiVersion);
      // The version may differ: an owner reference keeps the one it was written with.
      return kind === owner.kind && parsed.ok && parsed.value.group === owner.group;
    })
    .map(({ name }) => ({ namespace, name }));
}
