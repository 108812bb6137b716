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
  readonly ownerOf: (reference: OwnerReference) => OwnerFound;
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
    if (metadata.finalizers?.includes(ORPHAN)) return orphaned(item);
    return metadata.finalizers?.includes(FOREGROUND) ? deletedAfterDependents(item) : SETTLED;
  }
  return collected(item);
}

function orphaned({ kind, object, dependents }: Item): Decision {
  const forgotten = dependents.map((one) => update(one.kind, withoutOwners(one.object, [object.metadata.uid])));
  return { steps: [...forgotten, withoutFinalizer(kind, object, ORPHAN)] };
}

/** Dependents are processed when their owner starts to wait; here only whether any still blocks. */
function deletedAfterDependents({ kind, object, dependents }: Item): Decision {
  const { uid } = object.metadata;
  const isBlocked = dependents.some((one) =>
    one.object.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  );
  return isBlocked ? SETTLED : { steps: [withoutFinalizer(kind, object, FOREGROUND)] };
}

function collected({ kind, object, ownerOf, dependents }: Item): Decision {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return SETTLED;
  const found = references.map((reference) => ({ reference, owner: ownerOf(reference) }));
  if (found.some(({ owner }) => owner === "unknown")) return SETTLED;
  const solid = found.filter(({ owner }) => isSolid(owner));
  if (solid.length === found.length) return SETTLED;
  const gone = found.filter(({ owner }) => !isSolid(owner)).map(({ reference }) => reference.uid);
  if (solid.length > 0) return { steps: [update(kind, withoutOwners(object, gone))] };
  const isAwaited = found.some(({ owner }) => owner !== "missing");
  if (!isAwaited || dependents.length === 0) return { steps: [deletion(kind, object, propagationOf(object))] };
  // Owner, object and dependent may form a cycle in which all wait: then none blocks.
  const isCircle = dependents.some((one) => isWaiting(one.object));
  if (!isCircle) return { steps: [deletion(kind, object, "Foreground")] };
  const { resourceVersion: _, ...free } = unblocking(object).metadata;
  return { steps: [update(kind, { ...object, metadata: free }), remove(kind, object, { propagation: "Foreground" })] };
}

function isSolid(owner: OwnerFound): boolean {
  return typeof owner === "object" && !isWaiting(owner);
}

function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FOREGROUND) ?? false);
}

/** Existing finalizers determine how its own dependents are treated. */
function propagationOf({ metadata }: KubeObject): "Orphan" | "Foreground" | "Background" {
  if (metadata.finalizers?.includes(ORPHAN)) return "Orphan";
  return metadata.finalizers?.includes(FOREGROUND) ? "Foreground" : "Background";
}

function deletion(
  kind: ResourceName,
  object: Stored<KubeObject>,
  propagation: "Orphan" | "Foreground" | "Background",
): WriteStep {
  return remove(kind, object, { propagation, resourceVersion: object.metadata.resourceVersion });
}

function withoutOwners<T extends KubeObject>(object: T, uids: readonly string[]): T {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter((owner) => !uids.includes(owner.uid));
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
}

function unblocking<T extends KubeObject>(object: T): T {
  const ownerReferences =
    object.metadata.ownerReferences?.map((owner) => ({ ...owner, blockOwnerDeletion: false })) ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function withoutFinalizer(kind: ResourceName, object: Stored<KubeObject>, finalizer: string): WriteStep {
  const { finalizers = [], ...metadata } = object.metadata;
  const kept = finalizers.filter((one) => one !== finalizer);
  return update(kind, { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, finalizers: kept } });
}
