import path from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { ClusterPlan, StartCluster } from "../../clusters/ports.ts";
import { planClusters, planContexts } from "../../clusters/plan-clusters.ts";
import { StackCluster } from "../../clusters/stack-cluster.ts";
import type { DevStackConfig } from "../../config.ts";
import { createManagerStarter, type ManagerOptions } from "./manager.ts";
import { withStateStores } from "./state-stores.ts";
import { findPortUser, isPortFree } from "../listen.ts";
import { openRelay } from "./relay.ts";

export interface StackClustersOptions extends ManagerOptions {
  readonly config: DevStackConfig["clusters"];
  readonly functions?: DevStackConfig["functions"];
  readonly dataDir: string;
  readonly logger: Logger;
}

/** Creates the clusters of the stack without starting them. Throws at once on an invalid manager setting. */
export async function createClusters(options: StackClustersOptions): Promise<readonly StackCluster[]> {
  const { config, functions = "simulated", dataDir, logger, ...managers } = options;
  const { ambient, env } = managers;
  const starter = await loadStarter(config, functions, env, ambient);
  // Existing clusters and real nodes run the images of state stores.
  const startCluster =
    config.contexts.length > 0 || config.node ? starter : withStateStores(starter, { ambient, logger });
  const plans =
    config.contexts.length > 0
      ? planContexts(config, path.join(dataDir, "contexts"))
      : planClusters(config, path.join(dataDir, "clusters"));
  return plans.map(
    (plan) =>
      new StackCluster(plan, {
        ambient,
        logger,
        checkPorts,
        startCluster,
        startManager: createManagerStarter(plan, managers),
        openRelay,
      }),
  );
}

/** Loaded on demand: simulated clusters need only Node. */
async function loadStarter(
  { contexts, real, node, images }: DevStackConfig["clusters"],
  functions: DevStackConfig["functions"],
  env: ManagerOptions["env"],
  ambient: ManagerOptions["ambient"],
): Promise<StartCluster> {
  if (contexts.length > 0) return (await import("./context-cluster.ts")).createContextClusterStarter(env, ambient);
  if (node) return (await import("./node-cluster.ts")).createNodeClusterStarter(images);
  if (real) return (await import("./real-cluster.ts")).createRealClusterStarter();
  return (await import("./embedded-cluster.ts")).createEmbeddedClusterStarter(ambient, functions);
}

/** The kubectl command: from PATH, else, with real clusters, the downloaded one. */
export async function kubectlCommand(isReal: boolean): Promise<string> {
  if (!isReal) return "kubectl";
  const { componentFile, onPath } = await import("@oaas/real-components");
  return onPath("kubectl") === undefined ? componentFile("kubectl") : "kubectl";
}

/** Rejects configured ports that are in use, before anything starts. */
async function checkPorts({ name, apiPort, managerPort }: ClusterPlan): Promise<void> {
  await checkPort(apiPort, `the API server of ${name}`, "--oaas-stack-api-port");
  await checkPort(managerPort, `the class runtime manager of ${name}`, "--oaas-stack-crm-port");
}

async function checkPort(port: number, whose: string, flag: string): Promise<void> {
  if (port === 0 || (await isPortFree("127.0.0.1", port))) return;
  throw failedPrecondition(
    `127.0.0.1:${port}`,
    `127.0.0.1:${port}, the port for ${whose}, is in use by ${findPortUser(port) ?? "another process"}. Stop it, or choose another port: npm start -- ${flag}=0 selects a free port`,
  );
}
