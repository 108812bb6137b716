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
    watchesAll: { changed: listAffectedKeys, initial: listInitialKeys },
    decide(key, { view }) {
      const { kind, namespace, name } = parseKey(key);
      const object = view.get<KubeObject>(kind, namespace, name);
      if (!object) return SETTLED;
      return decideGarbage({
        kind,
        object,
        findOwner: (reference) => findOwner(object, reference, view),
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
export function findOwner(object: KubeObject, reference: OwnerReference, view: ClusterView): OwnerFound {
  const kind = findServedKind(reference, view);
  const { namespace } = object.metadata;
  if (kind === undefined || (kind.isNamespaced && namespace === undefined)) return "unknown";
  const owner = view.get<KubeObject>(kind, kind.isNamespaced ? (namespace ?? "") : "", reference.name);
  return owner?.metadata.uid === reference.uid ? owner : "missing";
}

function findServedKind(reference: OwnerReference, view: ClusterView): ServedKind | undefined {
  const parsed = parseApiVersion(reference.apiVersion);
  if (!parsed.ok) return undefined;
  return view.kinds().find(({ group, kind }) => group === parsed.value.group && kind === reference.kind);
}

function listInitialKeys(kind: ResourceName, object: JsonObject): string[] {
  const { metadata } = typed<KubeObject>(object);
  return isIgnored(kind) || !needsCollection(metadata) ? [] : [createKey(kind, typed(object))];
}

function needsCollection({ ownerReferences, deletionTimestamp, finalizers }: KubeObject["metadata"]): boolean {
  return (ownerReferences?.length ?? 0) > 0 || (deletionTimestamp !== undefined && (finalizers?.length ?? 0) > 0);
}

/** Only decisions that a change can affect: most changes affect none. */
function listAffectedKeys({ kind, object, previous }: ObjectChange, view: ClusterView): string[] {
  if (isIgnored(kind)) return [];
  const before = previous && typed<KubeObject>(previous);
  const after = object && typed<KubeObject>(object);
  const lost = before ? listLostOwners(before, after) : [];
  const owners = before ? lost.flatMap((reference) => getOwnerKey(before, reference, view) ?? []) : [];
  if (!after) return [...owners, ...(before ? listDependentKeys(before, view) : [])];
  const isNew = !before || before.metadata.uid !== after.metadata.uid;
  const isRelevant = isNew || !equalJson(getOwners(before), getOwners(after)) || isDeletionChanged(before, after);
  if (!isRelevant || !needsCollection(after.metadata)) return owners;
  const isWaiting = after.metadata.deletionTimestamp !== undefined && after.metadata.finalizers?.includes(FOREGROUND);
  // Dependents first: one that does not block would find its owner no longer waiting.
  return [...owners, ...(isWaiting ? listDependentKeys(after, view) : []), createKey(kind, after)];
}

function isDeletionChanged(before: KubeObject, after: KubeObject): boolean {
  const mark = ({ metadata }: KubeObject): string =>
    metadata.deletionTimestamp === undefined
      ? ""
      : [FOREGROUND, ORPHAN].map((one) => metadata.finalizers?.includes(one) ?? false).join();
  return mark(before) !== mark(after);
}

/** Owners that this object no longer blocks. */
function listLostOwners(before: KubeObject, after: KubeObject | undefined): readonly OwnerReference[] {
  return getOwners(before).filter(
    (owner) =>
      !getOwners(after).some((one) => one.uid === owner.uid && one.blockOwnerDeletion === owner.blockOwnerDeletion),
  );
}

function getOwners(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

function getOwnerKey(object: KubeObject, reference: OwnerReference, view: ClusterView): string | undefined {
  const kind = findServedKind(reference, view);
  return (
    kind && `${resourceKey(kind)}/${objectKey(kind.isNamespaced ? object.metadata.namespace : "", reference.name)}`
  );
}

function listDependentKeys({ metadata }: KubeObject, view: ClusterView): string[] {
  return view.dependentsOf(metadata.uid ?? "").map(({ kind, object }) => createKey(kind, typed(object)));
}

function createKey(kind: ResourceName, { metadata }: Stored<KubeObject>): string {
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
