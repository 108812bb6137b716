import { realAmbient } from "@oaas/foundation/real";
import { describeWith, eventually, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Informer } from "../src/cache/informer.ts";
import { metadataOnly } from "../src/cache/informer-pool.ts";
import type { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
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
  ])("by %s: synced means everything is there, then changes follow", async (_how, streaming) => {
    await maps.deleteCollection({ namespace: "watched" });
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        maps.create(configMap("watched", `m${i}`, { colour: i % 2 ? "red" : "blue" })),
      ),
    );
    const informer = informerOf(streaming);
    const told: string[] = [];
    informer.onChange((change) => told.push(`${change.type} ${change.object.metadata.name}`));
    informer.start();
    await informer.synced(AbortSignal.timeout(10_000));
    expect(informer.cache.size).toBe(25);
    expect(told).toHaveLength(25);
    expect(informer.cache.byIndex("colour", "red")).toHaveLength(12);
    expect([...informer.cache.list()][0]?.metadata.managedFields).toBeUndefined();

    await maps.patch({ namespace: "watched", name: "m1" }, "merge", { data: { colour: "green" } });
    await maps.delete({ namespace: "watched", name: "m2" });
    await maps.create(configMap("watched", "new", { colour: "green" }));
    await eventually(() => informer.cache.byIndex("colour", "green").length === 2 && informer.cache.size === 25);
    expect(told.slice(25)).toEqual(["updated m1", "deleted m2", "added new"]);
    await informer.stop();
  });

  test("a handler added later is told of everything there; one that throws harms nobody", async () => {
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

  test("only the metadata is kept when asked for", async () => {
    const informer = new Informer<ConfigMap>({
      name: "slim",
      source: maps.source({ namespace: "watched" }),
      ambient: realAmbient,
      trim: metadataOnly,
    });
    informer.start();
    await informer.synced(AbortSignal.timeout(10_000));
    for (const object of informer.cache.list()) expect(Object.keys(object)).toEqual(["apiVersion", "kind", "metadata"]);
    await informer.stop();
  });

  test("waiting for the first state can be given up", async () => {
    const informer = informerOf(true);
    await expect(informer.synced(AbortSignal.timeout(50))).rejects.toThrow();
  });
});
