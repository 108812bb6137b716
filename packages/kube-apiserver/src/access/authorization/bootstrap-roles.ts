import type { JsonObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../../controllers/cluster-objects.ts";
import roles from "../../gen/bootstrap-roles.json" with { type: "json" };
import { objectAt, textAt } from "../../kinds/json-access.ts";

const GROUP = "rbac.authorization.k8s.io";
const RESOURCES: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
};

/** Roles and bindings of every cluster, as the real server creates them; those of its own controllers are omitted. */
export function bootstrapRoles(): readonly JsonObject[] {
  return roles.objects;
}

/** Creates missing roles and bindings; changed ones are kept. */
export async function ensureBootstrapRoles(objects: Pick<ClusterObjects, "get" | "create">): Promise<void> {
  for (const object of bootstrapRoles()) {
    const kind = { group: GROUP, resource: RESOURCES[textAt(object, "kind")] ?? "" };
    const name = textAt(objectAt(object, "metadata"), "name");
    if (objects.get(kind, { name }) === undefined) await objects.create(kind, object, "kube-apiserver");
  }
}
