import { typeMetaOf, type GroupVersionKind, type KubeObject } from "@oaas/kube-core";

declare const objectType: unique symbol;

/** A kind as the API serves it, with the TypeScript type of its objects. */
export interface ResourceType<T extends KubeObject> extends GroupVersionKind {
  readonly [objectType]?: T;
  /** The plural in URLs. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** What the server shall send of each object. By default all of it. */
  readonly view?: "metadata";
}

/** Names a kind for the client: `resourceType<ConfigMap>({ group: "", version: "v1", kind: "ConfigMap", resource: "configmaps", namespaced: true })`. */
export function resourceType<T extends KubeObject>(type: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
}): ResourceType<T> {
  return type;
}

/**
 * The same kind, of whose objects only the metadata is wanted: the server sends no more, so that neither wire nor memory pays for contents
 * that nobody reads. Objects keep their own `apiVersion` and `kind`.
 */
export function metadataOf(type: ResourceType<KubeObject>): ResourceType<KubeObject> {
  return { ...type, view: "metadata" };
}

/** What to accept from the server for objects of this type; undefined means plain JSON. */
export function acceptOf(type: ResourceType<KubeObject>, of: "object" | "list"): string | undefined {
  if (type.view !== "metadata") return undefined;
  return `application/json;as=PartialObjectMetadata${of === "list" ? "List" : ""};g=meta.k8s.io;v=v1`;
}

/** The object with its own `apiVersion` and `kind`: lists leave them out of their items, and views put others in. */
export function withTypeMeta<T extends KubeObject>(type: ResourceType<T>, item: T): T {
  if (type.view === undefined && item.kind !== undefined && item.apiVersion !== undefined) return item;
  return { ...item, ...typeMetaOf(type) };
}
