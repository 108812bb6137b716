import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { scriptedTransport, type Answer } from "../testing/scripted-transport.ts";
import { KubeClient } from "./kube-client.ts";

const APPS = {
  metadata: { name: "apps" },
  versions: [
    {
      version: "v1",
      resources: [
        {
          resource: "deployments",
          responseKind: { kind: "Deployment" },
          scope: "Namespaced",
          verbs: ["get", "list"],
          shortNames: ["deploy"],
          subresources: [{ subresource: "scale" }],
        },
      ],
    },
  ],
};
const DEPLOYMENT = { group: "apps", version: "v1", kind: "Deployment" };

function setUp(answers: Record<string, () => Answer>) {
  const ambient = virtualAmbient(1);
  const transport = scriptedTransport(({ path }) => answers[path]?.() ?? { status: 404, body: "404 page not found" });
  const client = new KubeClient({ transport, ambient });
  return { client, time: ambient.time, requestPaths: () => transport.sent.map(({ path }) => path) };
}

const ok = (body: unknown) => (): Answer => ({ status: 200, body });
const expected = {
  ...DEPLOYMENT,
  resource: "deployments",
  namespaced: true,
  verbs: ["get", "list"],
  shortNames: ["deploy"],
  subresources: ["scale"],
};

describe("returns the same result from both forms of discovery", () => {
  test("aggregated, in two requests", async () => {
    const fixture = setUp({ "/api": ok({ items: [] }), "/apis": ok({ items: [APPS] }) });
    expect(await fixture.client.discovery.all()).toEqual([expected]);
    expect(fixture.requestPaths()).toEqual(["/api", "/apis"]);
  });

  test("legacy, one request per version; a broken version hides no other", async () => {
    const fixture = setUp({
      "/api": ok({ versions: ["v1"] }),
      "/apis": ok({ groups: [{ versions: [{ groupVersion: "apps/v1" }, { groupVersion: "broken/v1" }] }] }),
      "/api/v1": ok({
        groupVersion: "v1",
        resources: [{ name: "nodes", kind: "Node", namespaced: false, verbs: ["get"] }],
      }),
      "/apis/apps/v1": ok({
        groupVersion: "apps/v1",
        resources: [
          { name: "deployments", kind: "Deployment", namespaced: true, verbs: ["get", "list"], shortNames: ["deploy"] },
          { name: "deployments/scale", kind: "Scale", namespaced: true, verbs: ["get"] },
        ],
      }),
    });
    const all = await fixture.client.discovery.all();
    expect(all.find(({ kind }) => kind === "Deployment")).toEqual(expected);
    expect(all.find(({ kind }) => kind === "Node")).toMatchObject({ group: "", version: "v1", namespaced: false });
    expect(all).toHaveLength(2);
  });
});

test("returns the schemas of the kinds of a group", async () => {
  const schema = { type: "object", properties: {}, "x-kubernetes-group-version-kind": [{ kind: "Thing" }] };
  const schemas = { "group.v1.Thing": schema, "meta.v1.ObjectMeta": { type: "object" } };
  const fixture = setUp({ "/openapi/v3/apis/example.com/v1": ok({ components: { schemas } }) });
  expect([...(await fixture.client.discovery.schemas("example.com/v1"))]).toEqual([["Thing", schema]]);
});

describe("discovery cache", () => {
  const growing = () => {
    const items: unknown[] = [];
    return { items, ...setUp({ "/api": ok({ items: [] }), "/apis": () => ({ status: 200, body: { items } }) }) };
  };

  test("is read once for concurrent callers", async () => {
    const fixture = growing();
    fixture.items.push(APPS);
    await Promise.all([fixture.client.discovery.find(DEPLOYMENT), fixture.client.discovery.all()]);
    await fixture.client.discovery.find(DEPLOYMENT);
    expect(fixture.requestPaths()).toHaveLength(2);
  });

  test("re-reads for a missing kind, rate-limited and shared by concurrent callers", async () => {
    const fixture = growing();
    expect(await fixture.client.discovery.find(DEPLOYMENT)).toBeUndefined();
    fixture.items.push(APPS);
    expect(await fixture.client.discovery.find(DEPLOYMENT)).toBeUndefined();
    expect(fixture.requestPaths()).toHaveLength(2);
    await fixture.time.advance(5_000);
    const found = await Promise.all(Array.from({ length: 3 }, () => fixture.client.discovery.find(DEPLOYMENT)));
    expect(found).toEqual([expected, expected, expected]);
    expect(fixture.requestPaths()).toHaveLength(4);
  });

  test("forgets a kind whose path returns 404", async () => {
    const fixture = growing();
    fixture.items.push(APPS);
    const type = await fixture.client.discovery.resourceType(DEPLOYMENT);
    fixture.items.length = 0;
    await expect(fixture.client.resource(type).list()).rejects.toMatchObject({ kind: "not-found" });
    await expect(fixture.client.discovery.resourceType(DEPLOYMENT)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("does not cache a failed read", async () => {
    let fails = true;
    const fixture = setUp({
      "/api": () => (fails ? { status: 403 } : { status: 200, body: { items: [] } }),
      "/apis": ok({ items: [APPS] }),
    });
    await expect(fixture.client.discovery.all()).rejects.toMatchObject({ kind: "permission-denied" });
    fails = false;
    expect(await fixture.client.discovery.all()).toHaveLength(1);
  });
});
