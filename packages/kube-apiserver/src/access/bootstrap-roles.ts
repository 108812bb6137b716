import type { JsonObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import roles from "../gen/bootstrap-roles.json" with { type: "json" };
import { objectAt, textAt } from "../kinds/json-access.ts";

const GROUP = "rbac.authorization.k8s.io";
const RESOURCES: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
};

/** Roles and bindings that every cluster has, as the real server makes them; those of its own controllers are left out. */
export function bootstrapRoles(): readonly JsonObject[] {
  return roles.objects;
}

/** Makes those roles and bindings that are not there; what somebody has changed stays changed. */
export async function ensureBootstrapRoles(objects: Pick<ClusterObjects, "get" | "create">): Promise<void> {
  for (const object of bootstrapRoles()) {
    const kind = { group: GROUP, resource: RESOURCES[textAt(object, "kind")] ?? "" };
    const name = textAt(objectAt(object, "metadata"), "name");
    if (objects.get(kind, { name }) === undefined) await objects.create(kind, object, "kube-apiserver");
  }
}
