import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Ambient } from "@oaas/foundation";
import { MemoryTransport } from "@oaas/kube-apiserver";
import { startEmbedded, type EmbeddedCluster, type StartOptions } from "@oaas/kube-apiserver/node";
import { openSqliteStore } from "@oaas/storage/sqlite";
import type { ClusterPlan, StartCluster } from "../clusters/ports.ts";
import { canListen } from "./can-listen.ts";

const HOST = "127.0.0.1";

/** Starts simulated clusters in this process: an API server each, durable in the cluster's folder, with simulated nodes and workloads. */
export function embeddedClusterStarter(ambient: Ambient): StartCluster {
  return async (plan, progress) => {
    progress.now("API server");
    await mkdir(plan.folder, { recursive: true });
    const store = openSqliteStore({ ambient, file: path.join(plan.folder, "objects.sqlite") });
    const kubeconfig = path.join(plan.folder, "kubeconfig");
    const cluster = await startOnItsPort(plan, kubeconfig, {
      name: `oaas-${plan.name}`,
      store,
      simulation: simulationOf(plan),
    });
    await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    return {
      url: cluster.url,
      kubeconfig,
      connect: () => new MemoryTransport(cluster.server),
      // It lives and ends with this process.
      onLoss: () => undefined,
      close: async () => {
        await cluster.close();
        await store.close();
      },
    };
  };
}

/** On the chosen port; else on that of the last start, so that a kubeconfig that was copied stays right; else on a free one. */
async function startOnItsPort(plan: ClusterPlan, kubeconfig: string, options: StartOptions): Promise<EmbeddedCluster> {
  const last = plan.apiPort === 0 ? await portIn(kubeconfig) : plan.apiPort;
  const isFree = plan.apiPort !== 0 || (last !== 0 && (await canListen(HOST, last)));
  return startEmbedded({ ...options, host: HOST, port: isFree ? last : 0 });
}

async function portIn(kubeconfig: string): Promise<number> {
  const text = await readFile(kubeconfig, "utf8").catch(() => "");
  return Number(/server: http:\/\/127\.0\.0\.1:(?<port>\d+)/.exec(text)?.groups?.["port"] ?? 0);
}

/** Nodes in the cluster's zone, of a size that makes edge and cloud differ. */
function simulationOf({ name, nodes, labels }: ClusterPlan): NonNullable<StartOptions["simulation"]> {
  const isEdge = labels["env"] === "edge";
  return {
    nodes: Array.from({ length: nodes }, (_, index) => ({
      name: `${name}-${index}`,
      zone: labels["zone"] ?? "a",
      capacity: isEdge ? { cpu: "4", memory: "8Gi", pods: "110" } : { cpu: "32", memory: "128Gi", pods: "110" },
    })),
    startDelayMs: isEdge ? 400 : 150,
  };
}
