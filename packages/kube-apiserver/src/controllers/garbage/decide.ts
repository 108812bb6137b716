import type { KubeObject, OwnerReference, Stored } from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";
import { remove, SETTLED, update, type Decision, type WriteStep } from "../loop/decision.ts";

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** The target of an owner reference: an owner, nothing, or a kind that is not served and so unknown. */
export type OwnerFound = Stored<KubeObject> | "missing" | "unknown";

export interface Dependent {
  readonly kind: ResourceName;
  readonly object: Stored<KubeObject>;
}

/** An object with the context that the garbage collector needs. */
export interface Item {
  readonly kind: ResourceName;
  readonly object: Stored<KubeObject>;
  readonly findOwner: (reference: OwnerReference) => OwnerFound;
  readonly dependents: readonly Dependent[];
}

/**
 * The decision for one object, as in the real garbage collector:
 * in foreground deletion it is deleted when no dependent blocks it; when orphaning, its dependents lose the reference
 * first; otherwise it is deleted when none of its owners is left, and loses references to absent owners when others
 * exist.
 */
export function decideGarbage(item: Item): Decision {
  const { metadata } = item.object;
  if (metadata.deletionTimestamp !== undefined) {
    if (metadata.finalizers?.includes(ORPHAN)) return orphanDependents(item);
    return metadata.finalizers?.includes(FOREGROUND) ? deleteAfterDependents(item) : SETTLED;
  }
  return collectObject(item);
}

function orphanDependents({ kind, object, dependents }: Item): Decision {
  const ownerRemovals = dependents.map((one) => update(one.kind, removeOwners(one.object, [object.metadata.uid])));
  return { steps: [...ownerRemovals, removeFinalizer(kind, object, ORPHAN)] };
}

/** Dependents are processed when their owner starts to wait; here only whether any still blocks. */
function deleteAfterDependents({ kind, object, dependents }: Item): Decision {
  const { uid } = object.metadata;
  const isBlocked = dependents.some((one) =>
    one.object.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  );
  return isBlocked ? SETTLED : { steps: [removeFinalizer(kind, object, FOREGROUND)] };
}

function collectObject({ kind, object, findOwner, dependents }: Item): Decision {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return SETTLED;
  const resolved = references.map((reference) => ({ reference, owner: findOwner(reference) }));
  if (resolved.some(({ owner }) => owner === "unknown")) return SETTLED;
  const present = resolved.filter(({ owner }) => isPresent(owner));
  if (present.length === resolved.length) return SETTLED;
  const absentUids = resolved.filter(({ owner }) => !isPresent(owner)).map(({ reference }) => reference.uid);
  if (present.length > 0) return { steps: [update(kind, removeOwners(object, absentUids))] };
  const hasWaitingOwner = resolved.some(({ owner }) => owner !== "missing");
  if (!hasWaitingOwner || dependents.length === 0)
    return { steps: [createDeletion(kind, object, getPropagation(object))] };
  // Owner, object and dependent may form a cycle in which all wait: then none blocks.
  const isCycle = dependents.some((one) => isWaiting(one.object));
  if (!isCycle) return { steps: [createDeletion(kind, object, "Foreground")] };
  const { resourceVersion: _, ...metadata } = unblockOwners(object).metadata;
  return { steps: [update(kind, { ...object, metadata }), remove(kind, object, { propagation: "Foreground" })] };
}

function isPresent(owner: OwnerFound): boolean {
  return typeof owner === "object" && !isWaiting(owner);
}

function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
}

/** Existing finalizers determine how its own dependents are treated. */
function getPropagation({ metadata }: KubeObject): "Orphan" | "Foreground" | "Background" {
  if (metadata.finalizers?.includes(ORPHAN)) return "Orphan";
  return metadata.finalizers?.includes(FOREGROUND) ? "Foreground" : "Background";
}

function createDeletion(
  kind: ResourceName,
  object: Stored<KubeObject>,
  propagation: "Orphan" | "Foreground" | "Background",
): WriteStep {
  return remove(kind, object, { propagation, resourceVersion: object.metadata.resourceVersion });
}

function removeOwners<T extends KubeObject>(object: T, uids: readonly string[]): T {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const remaining = ownerReferences.filter((owner) => !uids.includes(owner.uid));
  return { ...object, metadata: remaining.length === 0 ? metadata : { ...metadata, ownerReferences: remaining } };
}

function unblockOwners<T extends KubeObject>(object: T): T {
  const ownerReferences =
    object.metadata.ownerReferences?.map((owner) => ({ ...owner, blockOwnerDeletion: false })) ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function removeFinalizer(kind: ResourceName, object: Stored<KubeObject>, finalizer: string): WriteStep {
  const { finalizers = [], ...metadata } = object.metadata;
  const remaining = finalizers.filter((one) => one !== finalizer);
  return update(kind, {
    ...object,
    metadata: remaining.length === 0 ? metadata : { ...metadata, finalizers: remaining },
  });
}
