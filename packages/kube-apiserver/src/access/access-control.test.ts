import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { ApiRequest } from "../api.ts";
import { builtInKinds } from "../kinds/built-in/built-in-kinds.ts";
import type { RequestAttributes, VirtualRequest } from "../request/routing/router.ts";
import { createAccessControl, ADMINISTRATOR, type AccessControl } from "./access-control.ts";
import { bootstrapRoles } from "./authorization/bootstrap-roles.ts";
import { fakeAccessObjects } from "./testing/fake-access-objects.ts";

const LIST_PODS: RequestAttributes = {
  verb: "list",
  path: "/api/v1/namespaces/default/pods",
  group: "",
  resource: "pods",
  namespace: "default",
};
const ACCOUNT = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { namespace: "default", name: "robot", uid: "u-1" },
};

function setUp(): {
  access: AccessControl;
  objects: ReturnType<typeof fakeAccessObjects>;
  time: ReturnType<typeof virtualAmbient>["time"];
} {
  const { clock, ids, time } = virtualAmbient(1);
  const objects = fakeAccessObjects([...bootstrapRoles(), ACCOUNT]);
  const users = new Map([
    ["root", ADMINISTRATOR],
    ["ann", { name: "ann", groups: [] }],
  ]);
  return { access: createAccessControl({ clock, ids, key: "k", users, objects: () => objects }), objects, time };
}

function request(token?: string, extra: Record<string, string> = {}): ApiRequest {
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...extra };
  return { method: "GET", target: "/", headers, body: "", signal: new AbortController().signal };
}

function postVirtual(
  access: AccessControl,
  resource: string,
  body: JsonObject,
  token: string,
  extra: Partial<VirtualRequest> = {},
): JsonObject {
  const kind = builtInKinds().find((each) => each.resource === resource)!;
  const response = access.virtualResources.handle({
    request: request(token),
    kind,
    namespace: "default",
    body,
    ...extra,
  });
  return response?.ok === true ? response.value : ({ error: response?.error } as unknown as JsonObject);
}

const bindRobot = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { namespace: "default", name: "b" },
  roleRef: { kind: "ClusterRole", name: "view" },
  subjects: [{ kind: "ServiceAccount", name: "robot" }],
};

describe("access", () => {
  it("allows the administrator and rejects other users", () => {
    const { access } = setUp();
    expect(access.guard.check(request("root"), LIST_PODS)).toBeUndefined();
    expect(access.guard.check(request("nonsense"), LIST_PODS)).toMatchObject({ code: 401, message: "Unauthorized" });
    expect(access.guard.check(request(), LIST_PODS)?.message).toBe(
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    );
    expect(access.guard.check(request("ann"), { verb: "get", path: "/metrics" })?.message).toBe(
      'forbidden: User "ann" cannot get path "/metrics"',
    );
    expect(access.guard.check(request("ann"), { verb: "get", path: "/apis" })).toBeUndefined();
  });

  it("names the forbidden subresource, group and object", () => {
    const scale = {
      verb: "get",
      path: "/x",
      group: "apps",
      resource: "deployments",
      subresource: "scale",
      name: "d",
      namespace: "n",
    };
    expect(setUp().access.guard.check(request("ann"), scale)).toEqual({
      status: "Failure",
      message:
        'deployments.apps "d" is forbidden: User "ann" cannot get resource "deployments/scale" in API group "apps" in the namespace "n"',
      reason: "Forbidden",
      details: { name: "d", group: "apps", kind: "deployments" },
      code: 403,
    });
  });

  it("accepts a service account token until it expires, and applies aggregated roles", async () => {
    const { access, objects, time } = setUp();
    const created = postVirtual(access, "serviceaccounts", { spec: { expirationSeconds: 600 } }, "root", {
      name: "robot",
      subresource: "token",
    });
    const { token } = created["status"] as { token: string };
    expect(access.guard.check(request(token), LIST_PODS)?.message).toContain("system:serviceaccount:default:robot");
    objects.add(bindRobot);
    expect(access.guard.check(request(token), LIST_PODS)).toBeUndefined();
    expect(access.guard.check(request(token), { ...LIST_PODS, resource: "secrets" })?.code).toBe(403);
    expect(access.guard.check(request(`${token}x`), LIST_PODS)?.code).toBe(401);
    await time.advance(600_000);
    expect(access.guard.check(request(token), LIST_PODS)?.code).toBe(401);
  });

  it("rejects token requests that are too short or name no account", () => {
    const { access } = setUp();
    const short = postVirtual(access, "serviceaccounts", { spec: { expirationSeconds: 6 } }, "root", {
      name: "robot",
      subresource: "token",
    });
    expect(JSON.stringify(short)).toContain("may not specify a duration less than 10 minutes");
    const missing = postVirtual(access, "serviceaccounts", { spec: {} }, "root", {
      name: "nope",
      subresource: "token",
    });
    expect(JSON.stringify(missing)).toContain("not found");
  });

  it("answers kubectl auth can-i and whoami", () => {
    const { access } = setUp();
    const review = { spec: { resourceAttributes: { verb: "list", resource: "pods", namespace: "default" } } };
    expect(postVirtual(access, "selfsubjectaccessreviews", review, "ann")).toMatchObject({
      status: { allowed: false },
    });
    expect(postVirtual(access, "selfsubjectaccessreviews", review, "root")).toMatchObject({
      status: { allowed: true },
    });
    expect(postVirtual(access, "selfsubjectreviews", {}, "ann")).toMatchObject({
      status: { userInfo: { username: "ann", groups: ["system:authenticated"] } },
    });
    const rules = postVirtual(access, "selfsubjectrulesreviews", { spec: { namespace: "default" } }, "ann");
    expect(JSON.stringify(rules)).toContain('"selfsubjectaccessreviews"');
    expect(JSON.stringify(postVirtual(access, "subjectaccessreviews", { spec: {} }, "root"))).toContain(
      "exactly one of",
    );
    expect(postVirtual(access, "tokenreviews", { spec: { token: "nope" } }, "root")).toMatchObject({
      status: { error: "invalid bearer token" },
    });
  });

  it("allows impersonation only with the permission", () => {
    const { access } = setUp();
    const asBen = { "impersonate-user": "ben", "impersonate-group": "system:masters" };
    expect(access.guard.check(request("root", asBen), LIST_PODS)).toBeUndefined();
    expect(access.guard.check(request("root", { "impersonate-user": "ben" }), LIST_PODS)?.message).toContain(
      'User "ben"',
    );
    expect(access.guard.check(request("ann", asBen), LIST_PODS)?.message).toBe(
      'pods is forbidden: User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"',
    );
  });
});
