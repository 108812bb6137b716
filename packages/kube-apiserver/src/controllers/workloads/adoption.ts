import {
  controllerOf,
  ownerReferenceTo,
  selectsLabels,
  type KubeObject,
  type LabelSelector,
  type Stored,
} from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";
import { update, type WriteStep } from "../loop/decision.ts";
import type { ClusterView } from "../objects/cluster-view.ts";

type Owner = Stored<KubeObject> & { readonly spec: { readonly selector?: LabelSelector } };

/** What nobody controls and the owner's selector selects becomes the owner's; what it controls and no longer selects is let go. */
export function adoptions(owner: Owner, kind: ResourceName, view: ClusterView): readonly WriteStep[] {
  if (owner.metadata.deletionTimestamp !== undefined) return [];
  const { selector } = owner.spec;
  const released = view
    .controlled<KubeObject>(owner, kind)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && !selectsLabels(selector, metadata.labels))
    .map((object) => update(kind, { ...object, metadata: withoutOwner(object, owner.metadata.uid) }));
  const adopted = orphans(owner, kind, view).map((object) =>
    update(kind, {
      ...object,
      metadata: {
        ...object.metadata,
        ownerReferences: [...(object.metadata.ownerReferences ?? []), ownerReferenceTo(owner)],
      },
    }),
  );
  return [...released, ...adopted];
}

function orphans(owner: Owner, kind: ResourceName, view: ClusterView): readonly Stored<KubeObject>[] {
  return view
    .list<KubeObject>(kind, owner.metadata.namespace)
    .filter(
      (object) =>
        controllerOf(object) === undefined &&
        object.metadata.deletionTimestamp === undefined &&
        selectsLabels(owner.spec.selector, object.metadata.labels),
    );
}

function withoutOwner({ metadata }: KubeObject, uid: string): KubeObject["metadata"] {
  const { ownerReferences = [], ...rest } = metadata;
  const kept = ownerReferences.filter((owner) => owner.uid !== uid);
  return kept.length === 0 ? rest : { ...rest, ownerReferences: kept };
}

/** The key of the owner in this kind that controls the object; for an orphan those whose selector selects it. */
export function ownerKeys(
  object: KubeObject,
  ownerKind: ResourceName & { readonly kind: string },
  view: ClusterView,
): string[] {
  const { namespace = "", labels } = object.metadata;
  const owner = controllerOf(object);
  if (owner) return owner.kind === ownerKind.kind ? [`${namespace}/${owner.name}`] : [];
  return view
    .list<Owner>(ownerKind, namespace)
    .filter(({ spec }) => selectsLabels(spec.selector, labels))
    .map(({ metadata }) => `${namespace}/${metadata.name}`);
}
