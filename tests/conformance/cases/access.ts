import type { JsonObject } from "@oaas/kube-core";
import type { RequestStep, Step, Subject } from "../src/case.ts";
import { configMap, create, get, mergePatch, remove } from "../src/case-steps.ts";

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

function accessReview(user: string, verb: string, resource: string): Step {
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

function accessCheck(user: string, verb: string, path: string, isAllowed: boolean): Step {
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
        accessCheck("alice", "get", "configmaps/a", false),
        accessCheck("alice", "get", "configmaps", false),
        accessCheck("alice", "create", "configmaps", false),
        { ...remove("configmaps/a"), as: "alice", want: 403 },
        { ...mergePatch("configmaps/a", {}), as: "alice", want: 403 },
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
        waitForAccess("alice", "get", "configmaps"),
      ],
      steps: [
        accessCheck("alice", "get", "configmaps/a", true),
        accessCheck("alice", "get", "configmaps", true),
        accessCheck("alice", "create", "configmaps", false),
        accessCheck("alice", "get", "secrets", false),
        accessCheck("alice", "get", "/api/v1/namespaces/default/configmaps", false),
        accessCheck("alice", "get", "/api/v1/configmaps", false),
        accessCheck("bob", "get", "configmaps/a", false),
      ],
    },
    {
      name: "a role binding to a group grants to its members",
      given: [
        role("r", [READ]),
        binding("b", { kind: "Group", name: "writers" }),
        waitForAccess("bob", "get", "configmaps", ["writers"]),
      ],
      steps: [accessCheck("bob", "get", "configmaps", true), accessCheck("alice", "get", "configmaps", false)],
    },
    {
      name: "a role grants by resource name",
      given: [
        create("configmaps", configMap("a")),
        create("configmaps", configMap("b")),
        role("r", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get"] }]),
        binding("b", ALICE),
        waitForAccess("alice", "get", "configmaps", [], "a"),
      ],
      steps: [accessCheck("alice", "get", "configmaps/a", true), accessCheck("alice", "get", "configmaps/b", false)],
    },
    {
      name: "permission to list an object by name allows a field selector on that name",
      given: [
        create("configmaps", configMap("a")),
        role("r", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["list", "watch"] }]),
        binding("b", ALICE),
        waitForAccess("alice", "list", "configmaps", [], "a"),
      ],
      steps: [
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name%3Da", true),
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name%3D%3Da,metadata.namespace%3D{ns}", true),
        accessCheck("alice", "get", "configmaps?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da", true),
        accessCheck("alice", "get", "configmaps", false),
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name%3Db", false),
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name%21%3Da", false),
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name%3Da%2Fb", false),
        accessCheck("alice", "get", "configmaps?fieldSelector=metadata.name", false),
        accessCheck("alice", "get", "configmaps/a", false),
        { ...remove("configmaps?fieldSelector=metadata.name%3Da"), as: "alice", want: 403 },
      ],
    },
    {
      name: "wildcards grant everything",
      given: [
        role("r", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]),
        binding("b", ALICE),
        waitForAccess("alice", "create", "configmaps"),
      ],
      steps: [
        accessCheck("alice", "create", "configmaps", true),
        accessCheck("alice", "get", "deployments", true),
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
        waitForAccess("alice", "get", "configmaps"),
      ],
      steps: [
        accessCheck("alice", "get", "configmaps", true),
        accessCheck("alice", "get", "secrets", false),
        accessCheck("alice", "get", "/api/v1/namespaces/default/configmaps", false),
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
        waitForAccess("alice", "create", "roles", [], undefined, RBAC),
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
        mergePatch(
          "roles/less",
          { metadata: { finalizers: ["example.test/a"] } },
          { as: "alice", show: ["metadata.finalizers"] },
        ),
        mergePatch("roles/less", { rules: [READ] }, { as: "alice", want: 403 }),
      ],
    },
    {
      name: "rejects granting permissions the user does not have",
      given: [
        role("r", [{ apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: ["create"] }]),
        binding("b", ALICE),
        waitForAccess("alice", "create", "roles", [], undefined, RBAC),
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
      given: [role("r", [READ]), binding("b", ALICE), waitForAccess("alice", "get", "configmaps")],
      steps: [
        accessReview("alice", "get", "configmaps"),
        accessReview("alice", "delete", "configmaps"),
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
      steps: [mergePatch("rolebindings/b", { roleRef: { name: "other" } }, { want: 422 })],
    },
  ],
};

/** Waits until an access review allows it: the authorizer sees new roles after a short delay. */
function waitForAccess(
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
