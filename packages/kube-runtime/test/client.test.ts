import { fieldConflictsOf } from "@oaas/kube-core";
import { Fault } from "@oaas/foundation";
import { describeWith, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import {
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  NAMESPACES,
  realClient,
  type ConfigMap,
} from "./real-client.ts";

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(Fault);
  return thrown as Fault;
}

describeWith(["kubernetes"], "the client on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  const warnings: string[] = [];

  beforeAll(async () => {
    cluster = await startKubernetes({ users: [{ name: "no-rights", token: "tok-no-rights" }] });
    client = realClient(cluster, { onWarning: (text) => warnings.push(text) });
    maps = client.resource(CONFIG_MAPS);
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  describe("verbs", () => {
    test("creates, reads, updates and deletes; kubectl reads the written objects", async () => {
      const made = await maps.create(configMap("default", "verbs", { a: "1" }), { fieldManager: "test" });
      expect(made.metadata.uid).toBeTruthy();
      const seen = await cluster.kubectl(["get", "configmap", "verbs", "-o", "jsonpath={.data.a}"]);
      expect(seen.stdout).toBe("1");
      const updated = await maps.update({ ...made, data: { a: "2" } });
      expect((await maps.get({ namespace: "default", name: "verbs" })).data).toEqual({ a: "2" });
      expect(updated.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
      await maps.delete({ namespace: "default", name: "verbs" }, { uid: made.metadata.uid });
      expect(await maps.find({ namespace: "default", name: "verbs" })).toBeUndefined();
    });

    test("reads objects written by kubectl", async () => {
      await cluster.kubectl(["create", "configmap", "theirs", "--from-literal=k=ü"]);
      expect((await maps.get({ namespace: "default", name: "theirs" })).data).toEqual({ k: "ü" });
    });

    test.each([
      ["json", [{ op: "replace", path: "/data/a", value: "json" }], { a: "json" }],
      ["merge", { data: { a: null, b: "merge" } }, { b: "merge" }],
      ["strategic", { data: { a: "strategic" } }, { a: "strategic" }],
    ] as const)("%s patch", async (type, patch, data) => {
      const name = `patched-${type}`;
      await maps.create(configMap("default", name, { a: "1" }));
      expect((await maps.patch({ namespace: "default", name }, type, patch)).data).toEqual(data);
    });

    test("a dry run changes nothing", async () => {
      const preview = await maps.create(configMap("default", "dry", { a: "1" }), { dryRun: true });
      expect(preview.data).toEqual({ a: "1" });
      expect(await maps.find({ namespace: "default", name: "dry" })).toBeUndefined();
    });

    test("reads and writes status and scale subresources", async () => {
      const deployments = client.resource(DEPLOYMENTS);
      const key = { namespace: "default", name: "scaled" };
      const made = await deployments.create(deployment("default", "scaled", 1));
      await deployments.update(
        { ...made, status: { replicas: 1, readyReplicas: 1, observedGeneration: 1 } },
        { subresource: "status" },
      );
      expect((await deployments.get(key)).status).toMatchObject({ readyReplicas: 1 });
      expect((await deployments.setScale(key, 3)).spec?.replicas).toBe(3);
      expect((await deployments.getScale(key)).spec?.replicas).toBe(3);
      expect((await deployments.get(key)).spec?.replicas).toBe(3);
    });

    test("deletes a collection by label", async () => {
      const labelled = (name: string, label: string): ConfigMap => ({
        ...configMap("default", name, {}),
        metadata: { namespace: "default", name, labels: { group: label } },
      });
      await Promise.all([
        maps.create(labelled("x1", "x")),
        maps.create(labelled("x2", "x")),
        maps.create(labelled("y1", "y")),
      ]);
      await maps.deleteCollection({ namespace: "default", labelSelector: "group=x" });
      const left = await maps.list({ namespace: "default", labelSelector: "group in (x,y)" });
      expect(left.items.map((item) => item.metadata.name)).toEqual(["y1"]);
    });
  });

  describe("lists", () => {
    test("lists by pages of one version, with kinds, selectors and all namespaces", async () => {
      await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "paged" } });
      await Promise.all(
        Array.from({ length: 25 }, (_, i) => maps.create(configMap("paged", `m${String(i).padStart(2, "0")}`, {}))),
      );
      const first = await maps.list({ namespace: "paged", limit: 10 });
      expect(first.items).toHaveLength(10);
      expect(first.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
      await maps.create(configMap("paged", "zz-late", {}));
      const names: string[] = [];
      for await (const item of maps.listAll({ namespace: "paged" }, { pageSize: 7 })) names.push(item.metadata.name);
      expect(names).toHaveLength(26);
      const second = await maps.list({
        namespace: "paged",
        limit: 100,
        ...(first.continue ? { continue: first.continue } : {}),
      });
      expect(second.items.map((item) => item.metadata.name)).not.toContain("zz-late");
      const one = await maps.list({ fieldSelector: "metadata.name=m03" });
      expect(one.items).toHaveLength(1);
    });
  });

  describe("server-side apply", () => {
    test("keeps owned fields; a conflict names the other manager and field; force takes it", async () => {
      const key = { namespace: "default", name: "applied" };
      await maps.apply(configMap("default", "applied", { a: "first", b: "first" }), { fieldManager: "first" });
      const fault = await faultOf(
        maps.apply(configMap("default", "applied", { a: "second" }), { fieldManager: "second" }),
      );
      expect(fault.kind).toBe("failed-precondition");
      expect(fieldConflictsOf(fault)).toMatchObject([
        { manager: "first", field: expect.stringContaining("data.a") as string },
      ]);
      await maps.apply(configMap("default", "applied", { a: "second" }), { fieldManager: "second", force: true });
      await maps.apply(configMap("default", "applied", { b: "first" }), { fieldManager: "first" });
      expect((await maps.get(key)).data).toEqual({ a: "second", b: "first" });
      await maps.apply(configMap("default", "applied", {}), { fieldManager: "second" });
      expect((await maps.get(key)).data).toEqual({ b: "first" });
    });

    test("writes nothing when the same configuration is applied twice", async () => {
      const object = configMap("default", "quiet", { a: "1" });
      const first = await maps.apply(object, { fieldManager: "quiet" });
      const second = await maps.apply(object, { fieldManager: "quiet" });
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });
  });

  describe("errors", () => {
    const missing = { namespace: "default", name: "missing" };
    test.each([
      ["get of a missing object", () => maps.get(missing), "not-found"],
      ["delete of a missing object", () => maps.delete(missing), "not-found"],
      ["missing namespace", () => maps.create(configMap("nowhere", "x", {})), "not-found"],
      ["invalid name", () => maps.create(configMap("default", "Not_A_Name", {})), "invalid-argument"],
      ["path traversal in a name", () => maps.get({ namespace: "default", name: ".." }), "invalid-argument"],
      [
        "unknown field with strict validation",
        () =>
          maps.create({ ...configMap("default", "s", {}), colour: "red" } as ConfigMap, { fieldValidation: "Strict" }),
        "invalid-argument",
      ],
      [
        "outdated version",
        async () => {
          const made = await maps.create(configMap("default", "raced", {}));
          await maps.update({ ...made, data: { a: "1" } });
          return maps.update({ ...made, data: { a: "2" } });
        },
        "conflict",
      ],
      [
        "delete with the uid of another object",
        async () => {
          await maps.create(configMap("default", "uid", {}));
          return maps.delete({ namespace: "default", name: "uid" }, { uid: "00000000-0000-0000-0000-000000000000" });
        },
        "conflict",
      ],
      [
        "duplicate name",
        async () => {
          await maps.create(configMap("default", "twice", {}));
          return maps.create(configMap("default", "twice", {}));
        },
        "already-exists",
      ],
      ["invalid continue token", () => maps.list({ limit: 1, continue: "rubbish" }), "invalid-argument"],
    ] as const)("%s", async (_name, work, kind) => {
      expect((await faultOf(work())).kind).toBe(kind);
    });

    test("requires a namespace before anything is sent", async () => {
      await expect(maps.get({ namespace: "", name: "x" })).rejects.toMatchObject({
        violations: [{ path: "$.metadata.namespace" }],
      });
    });
  });

  test("discovery finds kinds, scopes and new CRDs", async () => {
    const found = await client.discovery.find({ group: "apps", version: "v1", kind: "Deployment" });
    expect(found).toMatchObject({ resource: "deployments", namespaced: true, shortNames: ["deploy"] });
    expect(found?.subresources).toContain("scale");
    expect(await client.discovery.find({ group: "example.com", version: "v1", kind: "Nope" })).toBeUndefined();
    expect((await client.discovery.version()).gitVersion).toMatch(/^v1\./);
    expect(await client.isReady()).toBe(true);
  });
});
