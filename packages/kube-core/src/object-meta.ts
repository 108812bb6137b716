import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** A reference to an object that this one belongs to. The namespace is the dependent's own. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether this owner manages the object; at most one does. */
  readonly controller?: boolean;
  /** Whether the owner may go only after this object, when it is deleted in the foreground. */
  readonly blockOwnerDeletion?: boolean;
}

/** Which fields a manager has written. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: object;
  readonly subresource?: string;
}

/** What every object carries. Fields that only the server sets are absent before the first write. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** An object as written by its author: any kind extends this. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** What the server has filled in on every object it hands out. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object of this type as the server hands it out. */
export type Stored<T extends KubeObject> = T & { readonly metadata: StoredMeta };

/** What every list carries: where to go on, and from which version to watch. */
export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** `Unknown` is an answer too: nobody could tell. */
export type ConditionStatus = "True" | "False" | "Unknown";

/** One observation about an object, in the standard form. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** Where an object is, for queues and caches: never why it was looked at. Cluster scope is the empty namespace. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A pointer to an object of a known kind; with a uid it means this very object and not a later one of that name. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** Holds the whole object as `kubectl apply` last sent it; doubles its size in a cache. */
export const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** `namespace/name`, or `name` alone for cluster scope. */
export function formatObjectKey({ namespace, name }: ObjectKey): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** The inverse of `formatObjectKey`. */
export function parseObjectKey(text: string): Result<ObjectKey, Violation> {
  const parts = text.split("/");
  const [first = "", second] = parts;
  if (parts.length > 2 || first === "" || second === "") {
    return err({ path: ROOT_PATH, message: `"${text}" is no object key`, fix: 'write "namespace/name" or "name"' });
  }
  return ok(second === undefined ? { namespace: "", name: first } : { namespace: first, name: second });
}

/** The key of an object; the name is empty when the server is still to make one. */
export function keyOf(object: { readonly metadata: ObjectMeta }): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

/** A pointer to an object, with its uid when it has one. */
export function refOf(object: KubeObject): ObjectRef {
  const { namespace, name = "", uid } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** Whether the object waits for its finalizers to let it go. */
export function isBeingDeleted(object: { readonly metadata: ObjectMeta }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Whether the object carries this finalizer. */
export function hasFinalizer(object: { readonly metadata: ObjectMeta }, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** The value of a label, if the object has it. */
export function labelOf(object: { readonly metadata: ObjectMeta }, key: string): string | undefined {
  return ownEntry(object.metadata.labels, key);
}

/** The value of an annotation, if the object has it. */
export function annotationOf(object: { readonly metadata: ObjectMeta }, key: string): string | undefined {
  return ownEntry(object.metadata.annotations, key);
}

function ownEntry(entries: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return entries !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/**
 * The object without what only costs memory in a cache: managed fields and the last applied configuration.
 * Shares everything else with the original, which is not changed; gives back the original when there is nothing to trim.
 */
export function trimmed<T extends { readonly metadata: ObjectMeta }>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (annotationOf(object, LAST_APPLIED_ANNOTATION) === undefined) {
    return managedFields === undefined ? object : { ...object, metadata };
  }
  const { annotations, ...rest } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== LAST_APPLIED_ANNOTATION);
  return { ...object, metadata: kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) } };
}

/** Whether the status speaks of the spec as it is now. Kinds without generations are always up to date. */
export function isObserved(object: {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly observedGeneration?: number };
}): boolean {
  const { generation } = object.metadata;
  return generation === undefined || (object.status?.observedGeneration ?? 0) >= generation;
}

/** The condition of this type, if there is one. */
export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
