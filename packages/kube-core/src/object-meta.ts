import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** A reference to the owner of this object. The namespace is the dependent's. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether this owner is the controller; at most one owner is. */
  readonly controller?: boolean;
  /** Whether a foreground deletion of the owner waits for this object. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that a manager owns. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: object;
  readonly subresource?: string;
}

/** The metadata of every object. Fields that only the server sets are absent before the first write. */
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

/** An object as its author writes it: any kind extends this. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Metadata that the server sets on every returned object. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object of this type as the server returns it. */
export type Stored<T extends KubeObject> = T & { readonly metadata: StoredMeta };

/** The metadata of a list: the continuation, and the version to watch from. */
export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** `Unknown`: the status could not be determined. */
export type ConditionStatus = "True" | "False" | "Unknown";

/** One condition of an object, in the standard form. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** The key of an object for queues and caches. Cluster scope is the empty namespace. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * A reference to an object of a known kind; with a uid it refers to this instance and not to a later one of the same
 * name.
 */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** The last configuration sent by `kubectl apply`; doubles the size of an object in a cache. */
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
    return err({ path: ROOT_PATH, message: `"${text}" is not an object key`, fix: 'write "namespace/name" or "name"' });
  }
  return ok(second === undefined ? { namespace: "", name: first } : { namespace: first, name: second });
}

/** The key of an object; the name is empty when the server will generate one. */
export function keyOf(object: { readonly metadata: ObjectMeta }): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

/** A reference to an object, with its uid if it has one. */
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

/** Whether the object is being deleted and waits for its finalizers. */
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
 * The object without managed fields and the last applied configuration, which only cost memory in a cache. Shares
 * everything else with the original, which is not mutated; returns the original when there is nothing to trim.
 */
export function trimObject<T extends { readonly metadata: ObjectMeta }>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (annotationOf(object, LAST_APPLIED_ANNOTATION) === undefined) {
    return managedFields === undefined ? object : { ...object, metadata };
  }
  const { annotations, ...rest } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== LAST_APPLIED_ANNOTATION);
  return { ...object, metadata: kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) } };
}

/** Whether the status is about the current spec. Kinds without generations are always up to date. */
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
