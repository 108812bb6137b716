import {
  equalJson,
  type JsonObject,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
  type Stored,
} from "@oaas/kube-core";
import type { ObjectChange, ResourceName, ServedKind } from "../cluster-objects.ts";
import type { Controller } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { nameOfKey, objectKey, resourceKey } from "../objects/resources.ts";
import { decideGarbage, FOREGROUND, ORPHAN, type OwnerFound } from "./decide.ts";

/** Deletes dependents after their owners: background, foreground or orphan, as the deletion of the owner requested. */
export function garbageController(): Controller {
  return {
    name: "garbage-collector",
    reporter: "garbage-collector-controller",
    writer: "kube-controller-manager",
    watches: [],
    watchesAll: { changed: concernedBy, found: concernedAtFirst },
    decide(key, { view }) {
      const { kind, namespace, name } = parseKey(key);
      const object = view.get<KubeObject>(kind, namespace, name);
      if (!object) return SETTLED;
      return decideGarbage({
        kind,
        object,
        ownerOf: (reference) => ownerOf(object, reference, view),
        dependents: view
          .dependentsOf(object.metadata.uid)
          .map((one) => ({ kind: one.kind, object: typed(one.object) })),
      });
    },
  };
}

/**
 * An owner is in the same namespace or cluster-scoped; a namespaced owner of a cluster-scoped object can never be
 * found.
 */
export function ownerOf(object: KubeObject, reference: OwnerReference, view: ClusterView): OwnerFound {
  const kind = servedKind(reference, view);
  const { namespace } = object.metadata;
  if (kind === undefined || (kind.isNamespaced && namespace === undefined)) return "unknown";
  const owner = view.get<KubeObject>(kind, kind.isNamespaced ? (namespace ?? "") : "", reference.name);
  return owner?.metadata.uid === reference.uid ? owner : "missing";
}

function servedKind(reference: OwnerReference, view: ClusterView): ServedKind | undefined {
  const parsed = parseApiVersion(reference.apiVersion);
  if (!parsed.ok) return undefined;
  return view.kinds().find(({ group, kind }) => group === parsed.value.group && kind === reference.kind);
}

function concernedAtFirst(kind: ResourceName, object: JsonObject): string[] {
  const { metadata } = typed<KubeObject>(object);
  return isIgnored(kind) || !isConcerned(metadata) ? [] : [keyFor(kind, typed(object))];
}

function isConcerned({ ownerReferences, deletionTimestamp, finalizers }: KubeObject["metadata"]): boolean {
  return (ownerReferences?.length ?? 0) > 0 || (deletionTimestamp !== undefined && (finalizers?.length ?? 0) > 0);
}

/** Only decisions that a change can affect: most changes affect none. */
function concernedBy({ kind, object, previous }: ObjectChange, view: ClusterView): string[] {
  if (isIgnored(kind)) return [];
  const before = previous && typed<KubeObject>(previous);
  const after = object && typed<KubeObject>(object);
  const lost = before ? lostOwners(before, after) : [];
  const owners = before ? lost.flatMap((reference) => ownerKey(before, reference, view) ?? []) : [];
  if (!after) return [...owners, ...(before ? dependentKeys(before, view) : [])];
  const isNew = !before || before.metadata.uid !== after.metadata.uid;
  const isOther = isNew || !equalJson(ownersOf(before), ownersOf(after)) || isGoingOtherwise(before, after);
  if (!isOther || !isConcerned(after.metadata)) return owners;
  const waits = after.metadata.deletionTimestamp !== undefined && after.metadata.finalizers?.includes(FOREGROUND);
  // Dependents first: one that does not block would find its owner no longer waiting.
  return [...owners, ...(waits ? dependentKeys(after, view) : []), keyFor(kind, after)];
}

function isGoingOtherwise(before: KubeObject, after: KubeObject): boolean {
  const mark = ({ metadata }: KubeObject): string =>
    metadata.deletionTimestamp === undefined
      ? ""
      : [FOREGROUND, ORPHAN].map((one) => metadata.finalizers?.includes(one) ?? false).join();
  return mark(before) !== mark(after);
}

/** Owners that this object no longer blocks. */
function lostOwners(before: KubeObject, after: KubeObject | undefined): readonly OwnerReference[] {
  return ownersOf(before).filter(
    (owner) =>
      !ownersOf(after).some((one) => one.uid === owner.uid && one.blockOwnerDeletion === owner.blockOwnerDeletion),
  );
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

function ownerKey(object: KubeObject, reference: OwnerReference, view: ClusterView): string | undefined {
  const kind = servedKind(reference, view);
  return (
    kind && `${resourceKey(kind)}/${objectKey(kind.isNamespaced ? object.metadata.namespace : "", reference.name)}`
  );
}

function dependentKeys({ metadata }: KubeObject, view: ClusterView): string[] {
  return view.dependentsOf(metadata.uid ?? "").map(({ kind, object }) => keyFor(kind, typed(object)));
}

function keyFor(kind: ResourceName, { metadata }: Stored<KubeObject>): string {
  return `${resourceKey(kind)}/${objectKey(metadata.namespace, metadata.name)}`;
}

function parseKey(key: string): { readonly kind: ResourceName; readonly namespace: string; readonly name: string } {
  const [group = "", resource = ""] = key.split("/", 2);
  return { kind: { group, resource }, ...nameOfKey(key.slice(group.length + resource.length + 2)) };
}

/** Events are numerous and own nothing; the real collector ignores them too. */
function isIgnored({ resource }: ResourceName): boolean {
  return resource === "events";
}
