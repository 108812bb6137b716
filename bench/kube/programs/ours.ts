/**
 * Server-side apply with kube-runtime in its own process, so that CPU time and memory are those of the client. Accepts the
 * same arguments as `client-go/main.go`.
 */
import { readFile } from "node:fs/promises";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType, type ResourceClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { cpuMillis, peakRssBytes, printResult } from "./process-figures.ts";

const DEPLOYMENTS = resourceType<KubeObject>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  resource: "deployments",
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

const [command = "", kubeconfig = "", file = "", concurrency = "", warmUp = ""] = process.argv.slice(2);
const client = new KubeClient({
  transport: createUndiciTransport(loadAccess({ env: {}, kubeconfig }), realAmbient),
  ambient: realAmbient,
  // Same settings as the program.
  flow: { perSecond: 1_000_000, burst: 1_000_000, inFlight: 1_000 },
});
if (command !== "apply") throw new Error(`unknown command "${command}"`);
await apply(client, file, Number(concurrency), Number(warmUp));
await client.close();
