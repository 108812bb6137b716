import { isControlledBy, type JsonObject, type KubeObject, type ObjectMeta, type Stored } from "@oaas/kube-core";
import type { ClusterObjects, DependentObject, ObjectName, ResourceName, ServedKind } from "../cluster-objects.ts";

/** Typed reads. Results must not be mutated. */
export interface ClusterView {
  get<T extends KubeObject>(kind: ResourceName, namespace: string, name: string): Stored<T> | undefined;
  list<T extends KubeObject>(kind: ResourceName, namespace?: string): readonly Stored<T>[];
  /** Objects of this kind that this owner controls, from the server's index of owners. */
  controlled<T extends KubeObject>(owner: { readonly metadata: ObjectMeta }, kind: ResourceName): readonly Stored<T>[];
  serves(kind: ResourceName): boolean;
  kinds(): readonly ServedKind[];
  dependentsOf(uid: string): readonly DependentObject[];
}

export function clusterView(objects: ClusterObjects): ClusterView {
  return {
    get: <T extends KubeObject>(kind: ResourceName, namespace: string, name: string) =>
      typed<T>(objects.get(kind, objectName(namespace, name))),
    list: <T extends KubeObject>(kind: ResourceName, namespace?: string) =>
      objects.list(kind, namespace) as unknown as readonly Stored<T>[],
    controlled: <T extends KubeObject>(owner: { readonly metadata: ObjectMeta }, kind: ResourceName) =>
      objects
        .dependentsOf(owner.metadata.uid ?? "")
        .filter((dependent) => dependent.kind.resource === kind.resource && dependent.kind.group === kind.group)
        .map((dependent) => dependent.object as unknown as Stored<T>)
        .filter((object) => isControlledBy(object, owner.metadata.uid ?? ""))
        .sort(byName),
    serves: (kind) => objects.kinds().some((one) => one.resource === kind.resource && one.group === kind.group),
    kinds: () => objects.kinds(),
    dependentsOf: (uid) => objects.dependentsOf(uid),
  };
}

/** The object name for the server: cluster-scoped objects have no namespace. */
export function objectName(namespace: string | undefined, name: string): ObjectName {
  return namespace === undefined || namespace === "" ? { name } : { namespace, name };
}

/** An object of the server as its typed kind. */
export function typed<T extends KubeObject>(object: JsonObject): Stored<T>;
export function typed<T extends KubeObject>(object: JsonObject | undefined): Stored<T> | undefined;
export function typed<T extends KubeObject>(object: JsonObject | undefined): Stored<T> | undefined {
  return object as unknown as Stored<T> | undefined;
}

/** The reverse: controllers write JSON, which the types of single kinds do not express. */
export function asJson(object: object): JsonObject {
  return object as JsonObject;
}

function byName(a: KubeObject, b: KubeObject): number {
  const [left = "", right = ""] = [a.metadata.name, b.metadata.name];
  return left < right ? -1 : left > right ? 1 : 0;
}
