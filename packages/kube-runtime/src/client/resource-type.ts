import { typeMetaOf, type GroupVersionKind, type KubeObject } from "@oaas/kube-core";

declare const objectType: unique symbol;

/** A kind as the API serves it, with the TypeScript type of its objects. */
export interface ResourceType<T extends KubeObject> extends GroupVersionKind {
  readonly [objectType]?: T;
  /** The plural in URLs. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** What the server sends of each object. By default everything. */
  readonly view?: "metadata";
  /** False for APIs that compute their objects at each request, such as metrics: lists have no version, and no watch. */
  readonly isVersioned?: boolean;
}

/**
 * Declares a kind for the client: `resourceType<ConfigMap>({ group: "", version: "v1", kind: "ConfigMap", resource:
 * "configmaps", namespaced: true })`.
 */
export function resourceType<T extends KubeObject>(type: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly isVersioned?: boolean;
}): ResourceType<T> {
  return type;
}

/**
 * The same kind with only the metadata of its objects, which saves bandwidth and memory. Objects keep their
 * `apiVersion` and `kind`.
 */
export function metadataOf(type: ResourceType<KubeObject>): ResourceType<KubeObject> {
  return { ...type, view: "metadata" };
}

/** The Accept header for objects of this type; undefined means plain JSON. */
export function acceptOf(type: ResourceType<KubeObject>, of: "object" | "list"): string | undefined {
  if (type.view !== "metadata") return undefined;
  return `application/json;as=PartialObjectMetadata${of === "list" ? "List" : ""};g=meta.k8s.io;v=v1`;
}

/** Restores `apiVersion` and `kind`: lists omit them from items, and metadata views replace them. */
export function withTypeMeta<T extends KubeObject>(type: ResourceType<T>, item: T): T {
  if (type.view === undefined && item.kind !== undefined && item.apiVersion !== undefined) return item;
  return { ...item, ...typeMetaOf(type) };
}
