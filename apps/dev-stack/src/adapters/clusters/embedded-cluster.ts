import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Ambient } from "@oaas/foundation";
import { makePrivateFolder } from "@oaas/foundation/files";
import { MemoryTransport } from "@oaas/kube-apiserver";
import { startEmbedded, type EmbeddedCluster, type StartOptions } from "@oaas/kube-apiserver/node";
import { createPrometheusApi } from "@oaas/promql";
import { openSqliteStore } from "@oaas/storage/sqlite";
import type { ClusterPlan, StartCluster } from "../../clusters/ports.ts";
import { LoadSimulation } from "../../load/load-simulation.ts";
import { describePod } from "../../functions/describe-pod.ts";
import type { LocalProgram } from "../../functions/local-programs.ts";
import { LocalFunctions, ProcessLimit } from "../functions/local-functions.ts";
import { isPortFree } from "../listen.ts";
import { startMetricsServer } from "../metrics-server.ts";

/** The images that run as programs with `--functions=local`. */
const PROGRAMS: readonly LocalProgram[] = [
  {
    image: "registry.example.test/greeter",
    file: path.resolve(import.meta.dirname, "../../../../../examples/greeter-service/main.mjs"),
  },
];
const PODS = { group: "", resource: "pods" };
const HOST = "127.0.0.1";
/** Queries run in this process and must not block it for long. */
const MAX_QUERY_SAMPLES = 2_000_000;

/** Starts simulated clusters in this process: an API server with a durable store, simulated nodes and workloads. */
export function createEmbeddedClusterStarter(
  ambient: Ambient,
  functions: "simulated" | "local" = "simulated",
): StartCluster {
  const limit = new ProcessLimit();
  return async (plan, progress) => {
    progress.step("API server");
    makePrivateFolder(plan.folder);
    const store = openSqliteStore({ ambient, file: path.join(plan.folder, "objects.sqlite") });
    const kubeconfig = path.join(plan.folder, "kubeconfig");
    const load: LoadSimulation = new LoadSimulation({
      clock: ambient.clock,
      timers: ambient.timers,
      list: (kind) => cluster.server.objects.list(kind),
    });
    const cluster: EmbeddedCluster = await startOnStablePort(plan, kubeconfig, {
      name: `oaas-${plan.name}`,
      store,
      simulation: {
        ...simulationOf(plan),
        usage: (pod) => load.usageOf(pod),
        ...(functions === "local" ? { runtime: new LocalFunctions(PROGRAMS, limit) } : {}),
        traffic: {
          describe: (pod) => describePod(pod, plan.name, cluster.server.objects.list(PODS, pod.metadata.namespace)),
          onServed: ({ pod }) => load.countRequest(pod),
        },
      },
    });
    const metrics = await startMetricsServer(
      createPrometheusApi({
        store: load.store,
        now: () => ambient.clock.now(),
        version: "3.0.0-simulated",
        maxSamples: MAX_QUERY_SAMPLES,
      }),
    );
    load.start();
    const { simulation } = cluster;
    await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    return {
      url: cluster.url,
      context: `oaas-${plan.name}`,
      kubeconfig,
      connect: () => new MemoryTransport(cluster.server),
      load: {
        metricsUrl: metrics.url,
        servesUsage: true,
        setSpike: (hasSpike) => load.setSpike(hasSpike),
        states: () => load.states,
      },
      ...(simulation === undefined
        ? {}
        : {
            nodes: {
              names: nodesOf(plan).map(({ name }) => name),
              fail: (name) => simulation.loseNode(name),
              recover: (name) => simulation.findNode(name),
            },
          }),
      // It runs in this process and cannot end by itself.
      onLoss: () => undefined,
      close: async () => {
        load.stop();
        await metrics.close();
        await cluster.close();
        await store.close();
      },
    };
  };
}

/**
 * Uses the configured port, else the port of the previous start so that copied kubeconfigs stay valid, else a free
 * port.
 */
async function startOnStablePort(
  plan: ClusterPlan,
  kubeconfig: string,
  options: StartOptions,
): Promise<EmbeddedCluster> {
  const last = plan.apiPort === 0 ? await readPort(kubeconfig) : plan.apiPort;
  const isFree = plan.apiPort !== 0 || (last !== 0 && (await isPortFree(HOST, last)));
  return startEmbedded({ ...options, host: HOST, port: isFree ? last : 0 });
}

async function readPort(kubeconfig: string): Promise<number> {
  const text = await readFile(kubeconfig, "utf8").catch(() => "");
  return Number(/server: http:\/\/127\.0\.0\.1:(?<port>\d+)/.exec(text)?.groups?.["port"] ?? 0);
}

type Simulation = NonNullable<StartOptions["simulation"]>;
type SimulatedNode = Exclude<NonNullable<Simulation["nodes"]>, number>[number];

/** Shorter than the 50 s of Kubernetes, because a user waits for it. */
const NODE_SILENCE_MS = 5_000;

function simulationOf(plan: ClusterPlan): Simulation {
  return { nodes: nodesOf(plan), startDelayMs: isEdge(plan) ? 400 : 150, nodeSilenceMs: NODE_SILENCE_MS };
}

/** Nodes in the zone of the cluster; cloud nodes are larger than edge nodes. */
function nodesOf(plan: ClusterPlan): readonly SimulatedNode[] {
  const { name, nodes, labels } = plan;
  return Array.from({ length: nodes }, (_, index) => ({
    name: `${name}-${index}`,
    zone: labels["zone"] ?? "a",
    capacity: isEdge(plan) ? { cpu: "4", memory: "8Gi", pods: "110" } : { cpu: "32", memory: "128Gi", pods: "110" },
  }));
}

function isEdge({ labels }: ClusterPlan): boolean {
  return labels["env"] === "edge";
}
