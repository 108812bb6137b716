import { canonicalJson } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { Change } from "../cache/store.ts";

/** Whether a change is relevant. */
export type Predicate<T extends KubeObject> = (change: Change<T>) => boolean;

/** The spec changed, or the object was created or deleted. Not for kinds without a generation. */
export function specChanged<T extends KubeObject>(change: Change<T>): boolean {
  if (change.type !== "updated" || isAnother(change)) return true;
  const { object, previous } = change;
  return (
    object.metadata.generation !== previous.metadata.generation ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp
  );
}

/** Labels changed, or the object was created or deleted. */
export function labelsChanged<T extends KubeObject>(change: Change<T>): boolean {
  return metadataChanged(change, "labels");
}

/** Annotations changed, or the object was created or deleted. */
export function annotationsChanged<T extends KubeObject>(change: Change<T>): boolean {
  return metadataChanged(change, "annotations");
}

/** Finalizers changed, or the object was created or deleted. */
export function finalizersChanged<T extends KubeObject>(change: Change<T>): boolean {
  return metadataChanged(change, "finalizers");
}

/** At least one of the predicates. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** All of the predicates. */
export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** An object that was deleted and re-created unobserved arrives as an update; its generation starts again. */
function isAnother<T extends KubeObject>({ object, previous }: Change<T> & { readonly type: "updated" }): boolean {
  return object.metadata.uid !== previous.metadata.uid;
}

function metadataChanged<T extends KubeObject>(
  change: Change<T>,
  field: "labels" | "annotations" | "finalizers",
): boolean {
  if (change.type !== "updated" || isAnother(change)) return true;
  return (
    canonicalJson(change.object.metadata[field] ?? null) !== canonicalJson(change.previous.metadata[field] ?? null)
  );
}
