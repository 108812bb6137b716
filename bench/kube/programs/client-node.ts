/**
 * The informer benchmark with `@kubernetes/client-node`, which is installed outside of this workspace. Arguments: the
 * file to import the library from, then those of `client-go/main.go` (sync, replay).
 */
import { createInterface } from "node:readline";
import { measureReplay, measureSync, printResult } from "./process-figures.ts";

interface Listed {
  readonly items: readonly object[];
  readonly metadata?: { readonly resourceVersion?: string };
}

/** The used part of the library. */
interface ClientNode {
  KubeConfig: new () => { loadFromFile(file: string): void; makeApiClient(api: unknown): CoreApi };
  CoreV1Api: unknown;
  makeInformer: (config: unknown, path: string, list: () => Promise<Listed>) => NodeInformer;
}

interface CoreApi {
  listNamespacedConfigMap(query: { namespace: string }): Promise<Listed>;
}

interface NodeInformer {
  on(verb: "add" | "update" | "error", callback: (what: unknown) => void): void;
  list(): readonly object[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

const [library = "", command = "", kubeconfig = "", namespace = "", third = ""] = process.argv.slice(2);
const { KubeConfig, CoreV1Api, makeInformer } = (await import(library)) as ClientNode;
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const api = config.makeApiClient(CoreV1Api);

function informerOf(name: string, list = () => api.listNamespacedConfigMap({ namespace: name })): NodeInformer {
  const informer = makeInformer(config, `/api/v1/namespaces/${name}/configmaps`, list);
  informer.on("error", (error) => {
    // The library reports its own stop as an error.
    if ((error as Error).name !== "AbortError") throw error;
  });
  informer.on("add", () => undefined);
  return informer;
}

async function sync(): Promise<void> {
  const warm = informerOf(third);
  await warm.start();
  await warm.stop();
  await measureSync(async () => {
    const informer = informerOf(namespace);
    await informer.start();
    return { count: () => informer.list().length, stop: () => informer.stop() };
  });
}

async function replay(): Promise<void> {
  const held = await api.listNamespacedConfigMap({ namespace });
  printResult({ held: held.items.length });
  for await (const _go of createInterface({ input: process.stdin })) {
    await measureReplay(Number(third), (seen) => {
      const informer = informerOf(namespace, () => Promise.resolve(held));
      informer.on("update", seen);
      void informer.start();
      return () => informer.stop();
    });
  }
}

if (command === "sync") await sync();
else if (command === "replay") await replay();
else throw new Error(`unknown command "${command}"`);
process.exit(0);
