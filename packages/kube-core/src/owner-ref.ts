import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { parseApiVersion } from "./gvk.ts";
import type { KubeObject, ObjectMeta, OwnerReference, Stored } from "./object-meta.ts";

/** Options of an owner reference. */
export interface OwnerOptions {
  /** Whether the owner is the controller (default: yes). */
  readonly controller?: boolean;
  /** Whether a foreground deletion of the owner waits for the object (default: yes). */
  readonly blockOwnerDeletion?: boolean;
}

type WithMeta = { readonly metadata: ObjectMeta };

/** The reference by which a dependent names this owner. */
export function ownerReferenceTo(owner: Stored<KubeObject>, options: OwnerOptions = {}): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: options.controller ?? true,
    blockOwnerDeletion: options.blockOwnerDeletion ?? true,
  };
}

/** The controller of this object, if any. */
export function controllerOf(object: WithMeta): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether this owner (by uid, not by name) is among the object's owners. */
export function isOwnedBy(object: WithMeta, ownerUid: string): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === ownerUid) ?? false;
}

/** Whether this owner is the object's controller. */
export function isControlledBy(object: WithMeta, ownerUid: string): boolean {
  return controllerOf(object)?.uid === ownerUid;
}

/**
 * Adds this owner to the object. An earlier reference to it (the same uid, or the same kind and name from before it was
 * re-created) is replaced in place. Rejected when another owner is the controller, and when the owner is in another
 * namespace: the garbage collector would delete the object.
 */
export function withOwner<T extends WithMeta>(
  object: T,
  owner: Stored<KubeObject>,
  options: OwnerOptions = {},
): Result<T, Violation> {
  const reference = ownerReferenceTo(owner, options);
  const ownerNamespace = owner.metadata.namespace;
  if (ownerNamespace !== undefined && ownerNamespace !== object.metadata.namespace) {
    return err({
      path: pathOf(ROOT_PATH, "metadata", "namespace"),
      message: `the owner ${nameOf(reference)} is in namespace "${ownerNamespace}", the object is not`,
      fix: `put the object into namespace "${ownerNamespace}"`,
    });
  }
  const references = object.metadata.ownerReferences ?? [];
  const managing = references.findIndex((other) => other.controller === true && !sameOwner(other, reference));
  const rival = references[managing];
  if (reference.controller === true && rival !== undefined) {
    return err({
      path: pathOf(ROOT_PATH, "metadata", "ownerReferences", managing),
      message: `the object is already managed by ${nameOf(rival)}`,
      fix: "choose another name for the object, or own it without managing it",
    });
  }
  const first = references.findIndex((other) => sameOwner(other, reference));
  const ownerReferences =
    first === -1
      ? [...references, reference]
      : references.flatMap((other, index) =>
          index === first ? [reference] : sameOwner(other, reference) ? [] : [other],
        );
  return ok({ ...object, metadata: { ...object.metadata, ownerReferences } });
}

/** Removes this owner from the object; returns the object itself when it had no such owner. */
export function withoutOwner<T extends WithMeta>(object: T, ownerUid: string): T {
  if (!isOwnedBy(object, ownerUid)) return object;
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter((reference) => reference.uid !== ownerUid);
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.uid === b.uid || (a.kind === b.kind && a.name === b.name && groupOf(a) === groupOf(b));
}

/** All versions of a group serve the same objects, so the version does not distinguish owners. */
function groupOf(reference: OwnerReference): string {
  const parsed = parseApiVersion(reference.apiVersion);
  return parsed.ok ? parsed.value.group : reference.apiVersion;
}

function nameOf(reference: OwnerReference): string {
  return `${reference.kind} "${reference.name}"`;
}
