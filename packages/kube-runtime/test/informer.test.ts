import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { describeWith, eventually, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Informer } from "../src/cache/informer.ts";
import type { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import { metadataOf } from "../src/client/resource-type.ts";
import { CONFIG_MAPS, configMap, NAMESPACES, realClient, type ConfigMap } from "./real-client.ts";

describeWith(["kubernetes"], "informers on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;

  beforeAll(async () => {
    cluster = await startKubernetes();
    client = realClient(cluster);
    maps = client.resource(CONFIG_MAPS);
    await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "watched" } });
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  const informerOf = (streamingList: boolean, pageSize = 10): Informer<ConfigMap, "colour"> =>
    new Informer<ConfigMap, "colour">({
      name: "watched",
      source: maps.source({ namespace: "watched" }),
      ambient: realAmbient,
      indexes: { colour: ({ data }) => (data?.["colour"] === undefined ? [] : [data["colour"]]) },
      watch: { streamingList, pageSize },
    });

  test.each([
    ["a streamed list", true],
    ["pages", false],
  ])("by %s: synced means complete, then changes follow", async (_how, streaming) => {
    await maps.deleteCollection({ namespace: "watched" });
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        maps.create(configMap("watched", `m${i}`, { colour: i % 2 ? "red" : "blue" })),
      ),
    );
    const informer = informerOf(streaming);
    const events: string[] = [];
    informer.onChange((change) => events.push(`${change.type} ${change.object.metadata.name}`));
    informer.start();
    await informer.synced(AbortSignal.timeout(10_000));
    expect(informer.cache.size).toBe(25);
    expect(events).toHaveLength(25);
    expect(informer.cache.byIndex("colour", "red")).toHaveLength(12);
    expect([...informer.cache.list()][0]?.metadata.managedFields).toBeUndefined();

    await maps.patch({ namespace: "watched", name: "m1" }, "merge", { data: { colour: "green" } });
    await maps.delete({ namespace: "watched", name: "m2" });
    await maps.create(configMap("watched", "new", { colour: "green" }));
    await eventually(() => informer.cache.byIndex("colour", "green").length === 2 && informer.cache.size === 25);
    expect(events.slice(25)).toEqual(["updated m1", "deleted m2", "added new"]);
    await informer.stop();
  });

  test("a handler added later gets every existing object; a throwing handler affects no other", async () => {
    const informer = informerOf(true);
    informer.onChange(() => {
      throw new Error("broken handler");
    });
    informer.start();
    await informer.synced(AbortSignal.timeout(10_000));
    const late: string[] = [];
    const end = informer.onChange(({ object }) => late.push(object.metadata.name));
    expect(late).toHaveLength(informer.cache.size);
    await maps.create(configMap("watched", "later", {}));
    await eventually(() => late.includes("later"));
    end();
    await maps.delete({ namespace: "watched", name: "later" });
    await eventually(() => informer.get({ namespace: "watched", name: "later" }) === undefined);
    expect(late.filter((name) => name === "later")).toHaveLength(1);
    await informer.stop();
  });

  test.each([
    ["a streamed list", true],
    ["pages", false],
  ])("by %s: transfers only the metadata when requested", async (_how, streamingList) => {
    const slim = client.resource(metadataOf(CONFIG_MAPS));
    const informer = new Informer<KubeObject>({
      name: "slim",
      source: slim.source({ namespace: "watched" }),
      ambient: realAmbient,
      trim: (object) => object,
      watch: { streamingList },
    });
    informer.start();
    await informer.synced(AbortSignal.timeout(10_000));
    await maps.apply(configMap("watched", `slim-${streamingList}`, { heavy: "x" }), { fieldManager: "test" });
    const key = { namespace: "watched", name: `slim-${streamingList}` };
    await eventually(() => informer.get(key) !== undefined);
    expect(informer.cache.size).toBeGreaterThan(20);
    const view = { apiVersion: "v1", kind: "ConfigMap" };
    for (const object of [...informer.cache.list(), await slim.get(key)]) {
      expect(object).toMatchObject(view);
      expect(Object.keys(object).toSorted()).toEqual(["apiVersion", "kind", "metadata"]);
    }
    const patched = await slim.patch(key, "merge", { metadata: { labels: { seen: "yes" } } });
    expect(patched).toMatchObject({ ...view, metadata: { labels: { seen: "yes" } } });
    await eventually(() => informer.get(key)?.metadata.labels?.["seen"] === "yes");
    await slim.delete(key);
    await eventually(() => informer.get(key) === undefined);
    await informer.stop();
  });

  test("waiting for the initial list can be aborted", async () => {
    const informer = informerOf(true);
    await expect(informer.synced(AbortSignal.timeout(50))).rejects.toThrow();
    const waiting = informer.synced();
    await informer.stop();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
  });
});
