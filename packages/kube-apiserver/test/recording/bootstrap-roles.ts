import type { JsonObject } from "@oaas/kube-core";
import type { SendRequest } from "./real-server.ts";

const BASE = "/apis/rbac.authorization.k8s.io/v1/";
const KINDS = [
  ["clusterroles", "ClusterRole"],
  ["clusterrolebindings", "ClusterRoleBinding"],
] as const;

/** The bootstrap roles and bindings of the real server, without those of its controllers. */
export async function readBootstrapRoles(send: SendRequest): Promise<readonly JsonObject[]> {
  const objects: JsonObject[] = [];
  for (const [resource, kind] of KINDS) {
    const { body } = await send("GET", `${BASE}${resource}?labelSelector=kubernetes.io/bootstrapping=rbac-defaults`);
    for (const item of body["items"] as unknown as readonly JsonObject[]) {
      const { name, labels, annotations } = item["metadata"] as {
        name: string;
        labels: JsonObject;
        annotations: JsonObject;
      };
      if (name.startsWith("system:controller:")) continue;
      const { metadata: _metadata, apiVersion: _version, kind: _kind, ...rest } = item;
      objects.push({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind,
        metadata: { name, labels, annotations },
        ...rest,
      });
    }
  }
  return objects;
}

/** The roles as the text of their file: one line each. */
export function bootstrapRolesText(objects: readonly JsonObject[]): string {
  const note = "Made from the real kube-apiserver by `npm run kindgen`; not edited by hand.";
  return `{"note":${JSON.stringify(note)},\n"objects":[\n${objects.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}
