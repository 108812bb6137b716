import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import {
  exitText,
  obstaclesToNodes,
  NODE_COMPONENTS,
  nodeLayer,
  nodeProgramImage,
  pauseImage,
  startNodeCluster,
  writeImageArchive,
  type NodeCluster,
  type RunningProcess,
} from "@oaas/real-components";
import type { ClusterPlan, RunningCluster, StartCluster } from "../../clusters/ports.ts";
import type { Progress } from "../../clusters/progress.ts";
import { startPrometheus } from "./prometheus-process.ts";
import { obtainComponents } from "./real-cluster.ts";

const WITHOUT = "Without --node the stack needs only Node: npm start";
const STOP_GRACE_MS = 5_000;
const GREETER = path.resolve(import.meta.dirname, "..", "..", "..", "..", "..", "examples", "greeter-service");
const GREETER_IMAGE = "registry.example.test/greeter:1.0.0";

/** Starts a Kubernetes control plane with real nodes, which run the greeter and the images of the given archives. */
export function createNodeClusterStarter(archives: readonly string[]): StartCluster {
  return async (plan, progress) => {
    await check(archives, progress);
    const cluster = await startNodeCluster({
      name: `oaas-${plan.name}`,
      folder: plan.folder,
      fsync: true,
      nodes: plan.nodes,
      images: async (folder) => [await writeImages(folder), ...archives.map((file) => path.resolve(file))],
      onProgress: (part) => progress.step(part),
      ...(plan.apiPort === 0 ? {} : { port: plan.apiPort }),
    });
    try {
      return await runCluster(plan, cluster, progress);
    } catch (thrown) {
      await cluster.stop(0);
      throw thrown;
    }
  };
}

/** Whatever is missing is reported before anything starts. */
async function check(archives: readonly string[], progress: Progress): Promise<void> {
  for (const file of archives) {
    if (!existsSync(file)) throw failedPrecondition(file, `--images=${file}: the file does not exist`);
  }
  // Before the components, which may take minutes, and again with them, because they are used to try the rest.
  await rejectObstacles();
  await obtainComponents([...NODE_COMPONENTS, "prometheus"], "--node", progress);
  await rejectObstacles();
}

async function rejectObstacles(): Promise<void> {
  const obstacles = await obstaclesToNodes();
  if (obstacles.length > 0) throw failedPrecondition("--node", `${obstacles.join("\n")}\n${WITHOUT}`);
}

async function runCluster(plan: ClusterPlan, cluster: NodeCluster, progress: Progress): Promise<RunningCluster> {
  // Ignore HTTP proxies of the environment: this is loopback.
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  const connect = (): Transport => createUndiciTransport(access, realAmbient);
  progress.step("Prometheus");
  const prometheus = await startPrometheus(
    plan.folder,
    [...cluster.nodes.keys()].map((node) => scrapeConfig(cluster, node)),
  );
  let isClosing = false;
  const processes: readonly RunningProcess[] = [...cluster.processes, prometheus.process];
  return {
    url: cluster.url,
    context: `oaas-${plan.name}`,
    kubeconfig: cluster.kubeconfig,
    connect,
    metrics: { metricsUrl: prometheus.url, servesUsage: false },
    onLoss: (report) => {
      for (const { name, exited, logFile } of processes) {
        void exited.then((exit) => {
          if (!isClosing) report(`${name} ended with ${exitText(exit)}; see ${logFile}`);
        });
      }
    },
    close: async () => {
      isClosing = true;
      await prometheus.process.stop();
      await cluster.stop(STOP_GRACE_MS);
    },
  };
}

/** The usage of all containers of a node, through the API server: the node is in a network of its own. */
function scrapeConfig({ url, token, caFile }: NodeCluster, node: string): object {
  return {
    job_name: `containers-${node}`,
    scheme: "https",
    metrics_path: `/api/v1/nodes/${node}/proxy/metrics/cadvisor`,
    scrape_interval: "5s",
    authorization: { credentials: token },
    tls_config: { ca_file: caFile },
    static_configs: [{ targets: [new URL(url).host], labels: { node } }],
  };
}

async function writeImages(folder: string): Promise<string> {
  const files = readdirSync(GREETER)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => ({ path: `app/${file}`, source: path.join(GREETER, file) }));
  const greeter = nodeProgramImage(GREETER_IMAGE, await nodeLayer(), { files, main: "/app/main.mjs" });
  const archive = path.join(folder, "images.tar");
  await writeImageArchive([pauseImage(), greeter], archive);
  return archive;
}
