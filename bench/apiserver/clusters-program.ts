import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient } from "@oaas/kube-runtime";
import { realAmbient } from "@oaas/foundation/real";
import { createObservability } from "@oaas/observability/node";
import { parse } from "yaml";
import { createEmbeddedClusterStarter } from "../../apps/dev-stack/src/adapters/clusters/embedded-cluster.ts";
import { createManagerStarter } from "../../apps/dev-stack/src/adapters/clusters/manager.ts";
import { CLASS_RUNTIMES, installCrds } from "../../apps/dev-stack/src/clusters/install-crds.ts";
import { planClusters } from "../../apps/dev-stack/src/clusters/plan-clusters.ts";

/**
 * Three embedded clusters with a class runtime manager each in one process, built from the parts of `npm start`. Prints
 * a line when the APIs are ready, and another when the example class is available in each cluster.
 */
const NAMESPACE = "default";
const LOOK_EVERY_MS = 50;
const example = path.join(import.meta.dirname, "..", "..", "examples", "order-class", "class-runtime.yaml");
const order = parse(readFileSync(example, "utf8")) as KubeObject;
const startedAt = performance.now();
const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-clusters-"));
const settings = { real: false, count: 3, apiPort: 0, managerPort: 0, nodes: undefined, contexts: [], node: false, images: [] };
const start = createEmbeddedClusterStarter(realAmbient);

const clusters = await Promise.all(
  planClusters(settings, folder).map(async (plan) => {
    const cluster = await start(plan, { step: () => undefined, note: () => undefined });
    return { plan, cluster, client: new KubeClient({ transport: cluster.connect(), ambient: realAmbient }) };
  }),
);
print({ readyMs: performance.now() - startedAt });

const managers = await Promise.all(
  clusters.map(async ({ plan, cluster, client }) => {
    await installCrds(client, realAmbient);
    const observe = (service: string) =>
      createObservability({
        service,
        version: "0.1.0",
        ambient: realAmbient,
        log: { level: "warn", format: "plain", isTerminal: false },
      });
    const manager = await createManagerStarter(plan, { env: {}, ambient: realAmbient, observe })(cluster);
    await manager.ready;
    return manager;
  }),
);
await Promise.all(clusters.map(({ client }) => becomesAvailable(client)));
print({ availableMs: performance.now() - startedAt });

process.stdin.on("end", () => void end()).resume();

async function becomesAvailable(client: KubeClient): Promise<void> {
  const classes = client.resource(CLASS_RUNTIMES);
  const wanted = { ...order, metadata: { ...order.metadata, namespace: NAMESPACE } };
  await classes.apply(wanted as never, { fieldManager: "bench", force: true });
  const key = { namespace: NAMESPACE, name: order.metadata.name ?? "" };
  while ((await classes.get(key)).status?.phase !== "available") {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function end(): Promise<void> {
  for (const manager of managers) await manager.close();
  for (const { cluster } of clusters) await cluster.close();
  rmSync(folder, { recursive: true });
}

function print(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
