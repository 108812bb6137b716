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
  return { client, time: ambient.time, asked: () => transport.sent.map(({ path }) => path) };
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

describe("both forms of discovery say the same", () => {
  test("aggregated, in two requests", async () => {
    const world = setUp({ "/api": ok({ items: [] }), "/apis": ok({ items: [APPS] }) });
    expect(await world.client.discovery.all()).toEqual([expected]);
    expect(world.asked()).toEqual(["/api", "/apis"]);
  });

  test("legacy, one request per version; a broken one hides no other", async () => {
    const world = setUp({
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
    const all = await world.client.discovery.all();
    expect(all.find(({ kind }) => kind === "Deployment")).toEqual(expected);
    expect(all.find(({ kind }) => kind === "Node")).toMatchObject({ group: "", version: "v1", namespaced: false });
    expect(all).toHaveLength(2);
  });
});

describe("what is known", () => {
  const growing = () => {
    const items: unknown[] = [];
    return { items, ...setUp({ "/api": ok({ items: [] }), "/apis": () => ({ status: 200, body: { items } }) }) };
  };

  test("is read once for all who ask", async () => {
    const world = growing();
    world.items.push(APPS);
    await Promise.all([world.client.discovery.find(DEPLOYMENT), world.client.discovery.all()]);
    await world.client.discovery.find(DEPLOYMENT);
    expect(world.asked()).toHaveLength(2);
  });

  test("a missing kind is looked for again, but not in a storm, and once for all", async () => {
    const world = growing();
    expect(await world.client.discovery.find(DEPLOYMENT)).toBeUndefined();
    world.items.push(APPS);
    expect(await world.client.discovery.find(DEPLOYMENT)).toBeUndefined();
    expect(world.asked()).toHaveLength(2);
    await world.time.advance(5_000);
    const found = await Promise.all(Array.from({ length: 3 }, () => world.client.discovery.find(DEPLOYMENT)));
    expect(found).toEqual([expected, expected, expected]);
    expect(world.asked()).toHaveLength(4);
  });

  test("a kind whose path is gone is forgotten by whoever uses it", async () => {
    const world = growing();
    world.items.push(APPS);
    const type = await world.client.discovery.resourceType(DEPLOYMENT);
    world.items.length = 0;
    await expect(world.client.resource(type).list()).rejects.toMatchObject({ kind: "not-found" });
    await expect(world.client.discovery.resourceType(DEPLOYMENT)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("a failed read is not kept", async () => {
    let fails = true;
    const world = setUp({
      "/api": () => (fails ? { status: 403 } : { status: 200, body: { items: [] } }),
      "/apis": ok({ items: [APPS] }),
    });
    await expect(world.client.discovery.all()).rejects.toMatchObject({ kind: "permission-denied" });
    fails = false;
    expect(await world.client.discovery.all()).toHaveLength(1);
  });
});
