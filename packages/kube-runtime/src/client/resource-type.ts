import { typeMetaOf, type GroupVersionKind, type KubeObject } from "@oaas/kube-core";

declare const objectType: unique symbol;

/** A kind as the API serves it, with the TypeScript type of its objects. */
export interface ResourceType<T extends KubeObject> extends GroupVersionKind {
  readonly [objectType]?: T;
  /** The plural in URLs. */
  readonly resource: string;
  readonly namespaced: boolean;
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

/** The object with the `apiVersion` and `kind` that lists leave out of their items. */
export function withTypeMeta<T extends KubeObject>(type: ResourceType<T>, item: T): T {
  return item.kind === undefined || item.apiVersion === undefined ? { ...typeMetaOf(type), ...item } : item;
}
