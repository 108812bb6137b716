import type { JsonObject } from "@oaas/kube-core";
import type { RequestStep, Step, Subject } from "../src/case.ts";
import { configMap, create, get, merge, remove } from "../src/words.ts";

const RBAC = "rbac.authorization.k8s.io";

function role(name: string, rules: readonly JsonObject[]): RequestStep {
  return create("roles", { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name }, rules });
}

function binding(name: string, subject: JsonObject, roleRef: JsonObject = { kind: "Role", name: "r" }): RequestStep {
  return create("rolebindings", {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { name },
    subjects: [{ apiGroup: RBAC, ...subject }],
    roleRef: { apiGroup: RBAC, ...roleRef },
  });
}

const ALICE = { kind: "User", name: "alice" };
const READ = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] };

/** The authorizer sees new roles after a short delay. */
function allowed(user: string, verb: string, resource: string): Step {
  return create(
    "subjectaccessreviews",
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, resourceAttributes: { namespace: "{ns}", verb, resource } },
    },
    { show: ["status.allowed"] },
  );
}

function can(user: string, verb: string, path: string, isAllowed: boolean): Step {
  const step = verb === "create" ? create(path, configMap("new")) : get(path);
  return {
    ...step,
    as: user,
    want: isAllowed ? (verb === "create" ? 201 : 200) : 403,
    ...(isAllowed ? { show: [] } : {}),
  };
}

export const access: Subject = {
  subject: "access",
  needs: "api",
  cases: [
    {
      name: "rejects requests without a token and with an unknown token",
      steps: [
        get("configmaps", { as: "", want: [403, { reason: "Forbidden" }] }),
        get("configmaps", { as: "nonsense", want: [401, { reason: "Unauthorized" }] }),
      ],
    },
    {
      name: "rejects a user without permissions and names the missing one",
      given: [create("configmaps", configMap("a"))],
      steps: [
        can("alice", "get", "configmaps/a", false),
        can("alice", "get", "configmaps", false),
        can("alice", "create", "configmaps", false),
        { ...remove("configmaps/a"), as: "alice", want: 403 },
        { ...merge("configmaps/a", {}), as: "alice", want: 403 },
        { ...get("configmaps?watch=true"), as: "alice", want: 403 },
        { ...get("deployments/web/scale"), as: "alice", want: 403 },
        { ...get("nodes"), as: "alice", want: 403 },
        { ...get("/metrics"), as: "alice", want: 403 },
      ],
    },
    {
      name: "allows discovery to every user",
      steps: [
        { ...get("/version"), as: "alice", show: ["major"] },
        { ...get("/api"), as: "alice", show: ["kind"] },
        { ...get("/apis/apps/v1"), as: "alice", show: ["kind"] },
        { ...get("/openapi/v3"), as: "alice", show: [] },
      ],
    },
    {
      name: "a role grants its rules in its namespace only",
      given: [
        create("configmaps", configMap("a")),
        role("r", [READ]),
        binding("b", ALICE),
        settled("alice", "get", "configmaps"),
      ],
      steps: [
        can("alice", "get", "configmaps/a", true),
        can("alice", "get", "configmaps", true),
        can("alice", "create", "configmaps", false),
        can("alice", "get", "secrets", false),
        can("alice", "get", "/api/v1/namespaces/default/configmaps", false),
        can("alice", "get", "/api/v1/configmaps", false),
        can("bob", "get", "configmaps/a", false),
      ],
    },
    {
      name: "a role binding to a group grants to its members",
      given: [
        role("r", [READ]),
        binding("b", { kind: "Group", name: "writers" }),
        settled("bob", "get", "configmaps", ["writers"]),
      ],
      steps: [can("bob", "get", "configmaps", true), can("alice", "get", "configmaps", false)],
    },
    {
      name: "a role grants by resource name",
      given: [
        create("configmaps", configMap("a")),
        create("configmaps", configMap("b")),
        role("r", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get"] }]),
        binding("b", ALICE),
        settled("alice", "get", "configmaps", [], "a"),
      ],
      steps: [can("alice", "get", "configmaps/a", true), can("alice", "get", "configmaps/b", false)],
    },
    {
      name: "permission to list an object by name allows a field selector on that name",
      given: [
        create("configmaps", configMap("a")),
        role("r", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["list", "watch"] }]),
        binding("b", ALICE),
        settled("alice", "list", "configmaps", [], "a"),
      ],
      steps: [
        can("alice", "get", "configmaps?fieldSelector=metadata.name%3Da", true),
        can("alice", "get", "configmaps?fieldSelector=metadata.name%3D%3Da,metadata.namespace%3D{ns}", true),
        can("alice", "get", "configmaps?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da", true),
        can("alice", "get", "configmaps", false),
        can("alice", "get", "configmaps?fieldSelector=metadata.name%3Db", false),
        can("alice", "get", "configmaps?fieldSelector=metadata.name%21%3Da", false),
        can("alice", "get", "configmaps?fieldSelector=metadata.name%3Da%2Fb", false),
        can("alice", "get", "configmaps?fieldSelector=metadata.name", false),
        can("alice", "get", "configmaps/a", false),
        { ...remove("configmaps?fieldSelector=metadata.name%3Da"), as: "alice", want: 403 },
      ],
    },
    {
      name: "wildcards grant everything",
      given: [
        role("r", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]),
        binding("b", ALICE),
        settled("alice", "create", "configmaps"),
      ],
      steps: [
        can("alice", "create", "configmaps", true),
        can("alice", "get", "deployments", true),
        { ...get("nodes"), as: "alice", want: 403 },
      ],
    },
    {
      name: "a cluster role bound in a namespace applies there only",
      given: [
        create("clusterroles", {
          apiVersion: `${RBAC}/v1`,
          kind: "ClusterRole",
          metadata: { name: "{ns}" },
          rules: [READ],
        }),
        binding("b", ALICE, { kind: "ClusterRole", name: "{ns}" }),
        settled("alice", "get", "configmaps"),
      ],
      steps: [
        can("alice", "get", "configmaps", true),
        can("alice", "get", "secrets", false),
        can("alice", "get", "/api/v1/namespaces/default/configmaps", false),
      ],
    },
    {
      name: "a user grants own permissions, or any with bind or escalate",
      given: [
        role("r", [
          { apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: ["create", "update", "patch"] },
          { apiGroups: [RBAC], resources: ["roles"], resourceNames: ["r"], verbs: ["bind"] },
          { apiGroups: ["", "apps"], resources: ["*/status", "configmaps"], verbs: ["get"] },
        ]),
        role("other", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]),
        binding("b", ALICE),
        settled("alice", "create", "roles", [], undefined, RBAC),
      ],
      steps: [
        { ...role("less", [{ apiGroups: ["apps"], resources: ["deployments/status"], verbs: ["get"] }]), as: "alice" },
        { ...role("more", [{ ...READ, resources: ["configmaps", "secrets"] }]), as: "alice", want: 403 },
        {
          ...role("path", [{ apiGroups: ["x"], resources: ["y"], resourceNames: ["a", "b"], verbs: ["get"] }]),
          as: "alice",
          want: 403,
        },
        { ...binding("mine", ALICE), as: "alice" },
        { ...binding("theirs", ALICE, { kind: "Role", name: "other" }), as: "alice", want: 403 },
        { ...binding("nothing", ALICE, { kind: "Role", name: "none" }), as: "alice", want: 404 },
        merge(
          "roles/less",
          { metadata: { finalizers: ["example.test/a"] } },
          { as: "alice", show: ["metadata.finalizers"] },
        ),
        merge("roles/less", { rules: [READ] }, { as: "alice", want: 403 }),
      ],
    },
    {
      name: "rejects granting permissions the user does not have",
      given: [
        role("r", [{ apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: ["create"] }]),
        binding("b", ALICE),
        settled("alice", "create", "roles", [], undefined, RBAC),
      ],
      steps: [
        {
          ...create("roles", { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name: "more" }, rules: [READ] }),
          as: "alice",
          want: 403,
        },
        {
          ...create("rolebindings", {
            apiVersion: `${RBAC}/v1`,
            kind: "RoleBinding",
            metadata: { name: "more" },
            roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
          }),
          as: "alice",
          want: 403,
          show: ["reason"],
        },
      ],
    },
    {
      name: "access reviews report permissions",
      given: [role("r", [READ]), binding("b", ALICE), settled("alice", "get", "configmaps")],
      steps: [
        allowed("alice", "get", "configmaps"),
        allowed("alice", "delete", "configmaps"),
        create(
          "selfsubjectaccessreviews",
          {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes: { namespace: "{ns}", verb: "list", resource: "configmaps" } },
          },
          { as: "alice", show: ["status.allowed"] },
        ),
        create(
          "selfsubjectaccessreviews",
          {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { nonResourceAttributes: { verb: "get", path: "/metrics" } },
          },
          { as: "alice", show: ["status.allowed"] },
        ),
        create(
          "selfsubjectreviews",
          { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
          { as: "bob", show: ["status.userInfo.username", "status.userInfo.groups"] },
        ),
      ],
    },
    {
      name: "the administrator impersonates a user",
      given: [create("configmaps", configMap("a"))],
      steps: [
        get("configmaps/a", { headers: { "impersonate-user": "alice" }, want: 403 }),
        get("configmaps/a", {
          headers: { "impersonate-user": "carol", "impersonate-group": "system:masters" },
          show: [],
        }),
        { ...get("configmaps/a", { headers: { "impersonate-user": "bob" }, want: 403 }), as: "alice" },
      ],
    },
    {
      name: "the roleRef of a binding is immutable",
      given: [role("r", [READ]), binding("b", ALICE)],
      steps: [merge("rolebindings/b", { roleRef: { name: "other" } }, { want: 422 })],
    },
  ],
};

/** Waits until an access review allows it. */
function settled(
  user: string,
  verb: string,
  resource: string,
  groups: readonly string[] = [],
  name?: string,
  group = "",
): Step {
  return {
    until: "subjectaccessreviews",
    post: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user,
        groups,
        resourceAttributes: { namespace: "{ns}", verb, group, resource, ...(name === undefined ? {} : { name }) },
      },
    },
    code: 201,
    has: { status: { allowed: true } },
  };
}
