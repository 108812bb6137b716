/**
 * The benchmarks with kube-runtime in its own process, so that CPU time and memory are those of the client. Accepts the
 * same arguments as `client-go/main.go`.
 */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { Informer, KubeClient, resourceType, type ListPage, type ResourceClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { cpuMillis, measureReplay, measureSync, peakRssBytes, printResult } from "./process-figures.ts";

const DEPLOYMENTS = resourceType<KubeObject>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  resource: "deployments",
  namespaced: true,
});
const CONFIG_MAPS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});

async function apply(client: KubeClient, file: string, concurrency: number, warmUp: number): Promise<void> {
  const objects = JSON.parse(await readFile(file, "utf8")) as KubeObject[];
  const deployments = client.resource(DEPLOYMENTS);
  await applyAll(deployments, objects.slice(0, warmUp), concurrency);
  const measured = objects.slice(warmUp);
  const cpu = cpuMillis();
  const start = performance.now();
  await applyAll(deployments, measured, concurrency);
  const ms = performance.now() - start;
  printResult({ applied: measured.length, ms, cpuMs: cpuMillis() - cpu, peakRssBytes: peakRssBytes() });
}

async function applyAll(
  deployments: ResourceClient<KubeObject>,
  objects: readonly KubeObject[],
  concurrency: number,
): Promise<void> {
  const work = objects.values();
  const worker = async (): Promise<void> => {
    for (const object of work) {
      const applied = await deployments.apply(object, { fieldManager: "bench", force: true });
      if (!applied.metadata.uid) throw new Error("the response has no uid");
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

function startInformer(client: KubeClient, namespace: string): Informer<KubeObject> {
  const source = client.resource(CONFIG_MAPS).source({ namespace });
  const informer = new Informer<KubeObject>({ name: namespace, source, ambient: realAmbient });
  informer.onChange(() => undefined);
  informer.start();
  return informer;
}

async function sync(client: KubeClient, namespace: string, warmUp: string): Promise<void> {
  const warm = startInformer(client, warmUp);
  await warm.synced();
  await warm.stop();
  await measureSync(async () => {
    const informer = startInformer(client, namespace);
    await informer.synced();
    return { count: () => informer.cache.size, stop: () => informer.stop() };
  });
}

/** Lists once; each round watches from that version, with all later changes pending on the server. */
async function replay(client: KubeClient, namespace: string, events: number): Promise<void> {
  const source = client.resource(CONFIG_MAPS).source({ namespace });
  const held = await source.list({}, new AbortController().signal);
  printResult({ held: held.items.length });
  for await (const _go of createInterface({ input: process.stdin })) {
    await measureReplay(events, (seen) => replayOnce(source, held, seen));
  }
}

type Source = ReturnType<ResourceClient<KubeObject>["source"]>;

function replayOnce(
  source: Source,
  held: ListPage<Awaited<ReturnType<Source["list"]>>["items"][number]>,
  seen: () => void,
): () => Promise<void> {
  const informer = new Informer<KubeObject>({
    name: "replay",
    source: { list: () => Promise.resolve(held), watch: (query, signal) => source.watch(query, signal) },
    ambient: realAmbient,
    // A streaming list would skip the backlog.
    watch: { streamingList: false },
  });
  informer.onChange(({ type }) => {
    if (type === "updated") seen();
  });
  informer.start();
  return () => informer.stop();
}

const [command = "", kubeconfig = "", what = "", third = "", fourth = ""] = process.argv.slice(2);
const client = new KubeClient({
  transport: createUndiciTransport(loadAccess({ env: {}, kubeconfig }), realAmbient),
  ambient: realAmbient,
  // Same settings as the program.
  flow: { perSecond: 1_000_000, burst: 1_000_000, inFlight: 1_000 },
});
if (command === "apply") await apply(client, what, Number(third), Number(fourth));
else if (command === "sync") await sync(client, what, third);
else if (command === "replay") await replay(client, what, Number(third));
else throw new Error(`unknown command "${command}"`);
await client.close();
