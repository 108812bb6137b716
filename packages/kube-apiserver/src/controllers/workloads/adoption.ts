import {
  controllerOf,
  type JsonObject,
  type KubeObject,
  type LabelSelector,
  ownerReferenceTo,
  selectsLabels,
  type Stored,
} from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";
import type { WatchedKind } from "../loop/controller.ts";
import { update, type WriteStep } from "../loop/decision.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { objectKey, type Resource } from "../objects/resources.ts";

type Owner = Stored<KubeObject> & { readonly spec: { readonly selector?: LabelSelector } };

/**
 * Orphans that an owner's selector matches are adopted; controlled objects that it no longer matches are released.
 *
 * Finding orphans means scanning a namespace, so it is done only when there may be one: when the owner is new or has
 * another selector, and after a change of an object without a controller.
 */
export class Adoption {
  readonly #owners: Resource;
  readonly #kind: Resource;
  /** Owners that must search for orphans: their state at the last search, or undefined. */
  readonly #looked = new Map<string, string>();

  constructor(owners: Resource, kind: Resource) {
    this.#owners = owners;
    this.#kind = kind;
  }

  /** Follows the objects: affects their controller, or for an orphan the owners whose selector matches it. */
  follow(): WatchedKind {
    return { kind: this.#kind, isSecondary: true, keys: (object, view) => this.#keys(object, view) };
  }

  /** Objects to adopt and to release. */
  steps(owner: Owner, view: ClusterView): readonly WriteStep[] {
    const key = objectKey(owner.metadata.namespace, owner.metadata.name);
    const state = `${owner.metadata.uid} ${owner.metadata.generation ?? 0}`;
    if (owner.metadata.deletionTimestamp !== undefined) {
      this.#looked.delete(key);
      return [];
    }
    const found = this.#looked.get(key) === state ? [] : listOrphans(owner, this.#kind, view);
    if (found.length === 0) this.#looked.set(key, state);
    return [
      ...releasePods(owner, this.#kind, view),
      ...found.map((object) => update(this.#kind, adoptPods(object, owner))),
    ];
  }

  #keys(json: JsonObject, view: ClusterView): string[] {
    const object = typed<KubeObject>(json);
    const keys = ownerKeys(object, this.#owners, view);
    if (controllerOf(object) === undefined) for (const key of keys) this.#looked.delete(key);
    return keys;
  }
}

function releasePods(owner: Owner, kind: ResourceName, view: ClusterView): readonly WriteStep[] {
  return view
    .controlled<KubeObject>(owner, kind)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => !selectsLabels(owner.spec.selector, metadata.labels))
    .map((object) => update(kind, { ...object, metadata: removeOwner(object, owner.metadata.uid) }));
}

function listOrphans(owner: Owner, kind: ResourceName, view: ClusterView): readonly Stored<KubeObject>[] {
  return view
    .list<KubeObject>(kind, owner.metadata.namespace)
    .filter(
      (object) =>
        controllerOf(object) === undefined &&
        object.metadata.deletionTimestamp === undefined &&
        selectsLabels(owner.spec.selector, object.metadata.labels),
    );
}

function adoptPods(object: Stored<KubeObject>, owner: Owner): KubeObject {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), ownerReferenceTo(owner)];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function removeOwner({ metadata }: KubeObject, uid: string): KubeObject["metadata"] {
  const { ownerReferences = [], ...rest } = metadata;
  const remaining = ownerReferences.filter((owner) => owner.uid !== uid);
  return remaining.length === 0 ? rest : { ...rest, ownerReferences: remaining };
}

/** The key of the controlling owner of this kind; for an orphan the owners whose selector matches it. */
export function ownerKeys(object: KubeObject, ownerKind: Resource, view: ClusterView): string[] {
  const { namespace = "", labels } = object.metadata;
  const owner = controllerOf(object);
  if (owner) return owner.kind === ownerKind.kind ? [objectKey(namespace, owner.name)] : [];
  return view
    .list<Owner>(ownerKind, namespace)
    .filter(({ spec }) => selectsLabels(spec.selector, labels))
    .map(({ metadata }) => objectKey(namespace, metadata.name));
}
