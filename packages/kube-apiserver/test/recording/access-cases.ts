import type { JsonObject } from "@oaas/kube-core";

const GROUP = "rbac.authorization.k8s.io";
const V1 = `${GROUP}/v1`;

const role = (name: string, rules: JsonObject[]): JsonObject => ({
  apiVersion: V1,
  kind: "Role",
  metadata: { name, namespace: "default" },
  rules,
});
const clusterRole = (name: string, rules: JsonObject[], more: JsonObject = {}): JsonObject => ({
  apiVersion: V1,
  kind: "ClusterRole",
  metadata: { name, ...(more["labels"] === undefined ? {} : { labels: more["labels"] }) },
  rules,
  ...(more["aggregationRule"] === undefined ? {} : { aggregationRule: more["aggregationRule"] }),
});
const binding = (kind: string, name: string, roleKind: string, roleName: string, subject: JsonObject): JsonObject => ({
  apiVersion: V1,
  kind,
  metadata: { name, ...(kind === "RoleBinding" ? { namespace: "default" } : {}) },
  roleRef: { apiGroup: GROUP, kind: roleKind, name: roleName },
  subjects: [subject["kind"] === "ServiceAccount" ? subject : { apiGroup: GROUP, ...subject }],
});
const user = (name: string): JsonObject => ({ kind: "User", name });

/** Roles and bindings besides the bootstrap ones. */
export const ACCESS_OBJECTS: readonly JsonObject[] = [
  role("pod-reader", [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] }]),
  role("one-secret", [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"] }]),
  role("any-scale", [{ verbs: ["update"], apiGroups: ["apps"], resources: ["*/scale"] }]),
  clusterRole("all-apps", [{ verbs: ["*"], apiGroups: ["apps"], resources: ["*"] }]),
  clusterRole("metrics", [{ verbs: ["get"], nonResourceURLs: ["/metrics", "/logs/*"] }]),
  binding("RoleBinding", "ann-reads", "Role", "pod-reader", user("ann")),
  binding("RoleBinding", "ann-secret", "Role", "one-secret", user("ann")),
  binding("RoleBinding", "ben-scales", "Role", "any-scale", user("ben")),
  binding("RoleBinding", "ben-apps", "ClusterRole", "all-apps", user("ben")),
  binding("ClusterRoleBinding", "ops-apps", "ClusterRole", "all-apps", { kind: "Group", name: "ops" }),
  binding("ClusterRoleBinding", "ops-metrics", "ClusterRole", "metrics", { kind: "Group", name: "ops" }),
  binding("RoleBinding", "robot-admin", "ClusterRole", "cluster-admin", {
    kind: "ServiceAccount",
    name: "robot",
    namespace: "other",
  }),
  binding("ClusterRoleBinding", "dangling", "ClusterRole", "not-there", user("dan")),
];

interface AccessCase {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly wants: JsonObject;
}

const of = (verb: string, resource: string, more: JsonObject = {}): JsonObject => ({
  resourceAttributes: { verb, resource, namespace: "default", group: "", ...more },
});
const path = (verb: string, at: string): JsonObject => ({ nonResourceAttributes: { verb, path: at } });

/** The requests of each user. */
export const ACCESS_CASES: readonly AccessCase[] = [
  { user: "ann", wants: of("list", "pods") },
  { user: "ann", wants: of("watch", "pods") },
  { user: "ann", wants: of("get", "pods", { subresource: "log" }) },
  { user: "ann", wants: of("get", "pods", { subresource: "exec" }) },
  { user: "ann", wants: of("list", "pods", { namespace: "other" }) },
  { user: "ann", wants: of("list", "pods", { namespace: "" }) },
  { user: "ann", wants: of("get", "secrets", { name: "mine" }) },
  { user: "ann", wants: of("get", "secrets", { name: "yours" }) },
  { user: "ann", wants: of("list", "secrets") },
  { user: "ann", wants: of("get", "pods", { group: "apps" }) },
  { user: "ben", wants: of("update", "deployments", { group: "apps", subresource: "scale" }) },
  { user: "ben", wants: of("update", "deployments", { group: "apps" }) },
  { user: "ben", wants: of("delete", "deployments", { group: "apps", namespace: "other" }) },
  { user: "ben", wants: of("update", "pods", { subresource: "scale" }) },
  { user: "eve", groups: ["ops"], wants: of("delete", "deployments", { group: "apps", namespace: "other" }) },
  { user: "eve", groups: ["ops"], wants: of("delete", "deployments", { group: "apps", namespace: "" }) },
  { user: "eve", groups: ["ops"], wants: of("delete", "pods") },
  { user: "eve", groups: ["ops"], wants: path("get", "/metrics") },
  { user: "eve", groups: ["ops"], wants: path("post", "/metrics") },
  { user: "eve", groups: ["ops"], wants: path("get", "/logs/a/b") },
  { user: "eve", groups: ["ops"], wants: path("get", "/logs") },
  { user: "eve", wants: path("get", "/metrics") },
  { user: "system:serviceaccount:other:robot", wants: of("delete", "pods") },
  { user: "system:serviceaccount:other:robot", wants: of("delete", "pods", { namespace: "other" }) },
  { user: "system:serviceaccount:default:robot", wants: of("delete", "pods") },
  { user: "system:serviceaccount:other:robot", wants: path("get", "/metrics") },
  { user: "dan", wants: of("get", "pods") },
  { user: "root", groups: ["system:masters"], wants: of("delete", "nodes", { namespace: "" }) },
  { user: "root", groups: ["system:masters"], wants: path("delete", "/anything") },
  { user: "any", groups: ["system:authenticated"], wants: path("get", "/apis") },
  { user: "any", groups: ["system:authenticated"], wants: path("get", "/apis/apps/v1") },
  { user: "any", groups: ["system:authenticated"], wants: path("get", "/openapi/v3") },
  {
    user: "any",
    groups: ["system:authenticated"],
    wants: of("create", "selfsubjectaccessreviews", { group: "authorization.k8s.io", namespace: "" }),
  },
  {
    user: "any",
    groups: ["system:authenticated"],
    wants: of("create", "subjectaccessreviews", { group: "authorization.k8s.io", namespace: "" }),
  },
  { user: "any", groups: ["system:unauthenticated"], wants: path("get", "/apis") },
  { user: "any", groups: ["system:unauthenticated"], wants: path("get", "/healthz") },
  { user: "any", groups: ["system:unauthenticated"], wants: path("get", "/version") },
  { user: "system:kube-scheduler", wants: of("create", "pods", { subresource: "binding" }) },
  { user: "system:kube-scheduler", wants: of("delete", "nodes", { namespace: "" }) },
];
