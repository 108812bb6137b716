import path from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { ClusterPlan, StartCluster } from "../clusters/ports.ts";
import { planClusters, planContexts } from "../clusters/plan-clusters.ts";
import { StackCluster } from "../clusters/stack-cluster.ts";
import type { DevStackConfig } from "../config.ts";
import { managerOf, type ManagerOptions } from "./manager.ts";
import { canListen } from "./can-listen.ts";
import { portHolder } from "./port-holder.ts";
import { openRelay } from "./relay.ts";

export interface StackClustersOptions extends ManagerOptions {
  readonly config: DevStackConfig["clusters"];
  readonly dataDir: string;
  readonly logger: Logger;
}

/** The clusters of the stack, not started yet. Throws at once when a setting of a manager is wrong. */
export async function stackClusters(options: StackClustersOptions): Promise<readonly StackCluster[]> {
  const { config, dataDir, logger, ...managers } = options;
  const { ambient, env } = managers;
  const startCluster = await starterOf(config, env, ambient);
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
        startManager: managerOf(plan, managers),
        openRelay,
      }),
  );
}

/** Loaded when asked for: Node is all that the simulated ones need. */
async function starterOf(
  { contexts, real }: DevStackConfig["clusters"],
  env: ManagerOptions["env"],
  ambient: ManagerOptions["ambient"],
): Promise<StartCluster> {
  if (contexts.length > 0) return (await import("./context-cluster.ts")).contextClusterStarter(env, ambient);
  if (real) return (await import("./real-cluster.ts")).realClusterStarter();
  return (await import("./embedded-cluster.ts")).embeddedClusterStarter(ambient);
}

/** How to call kubectl: the machine's own, else, with real clusters, the one that came with them. */
export async function kubectlCommand(isReal: boolean): Promise<string> {
  if (!isReal) return "kubectl";
  const { componentFile, onPath } = await import("@oaas/real-components");
  return onPath("kubectl") === undefined ? componentFile("kubectl") : "kubectl";
}

/** Refuses chosen ports that are taken, before anything was started for them. */
async function checkPorts({ name, apiPort, managerPort }: ClusterPlan): Promise<void> {
  await checkPort(apiPort, `the API server of ${name}`, "--oaas-stack-api-port");
  await checkPort(managerPort, `the class runtime manager of ${name}`, "--oaas-stack-crm-port");
}

async function checkPort(port: number, whose: string, flag: string): Promise<void> {
  if (port === 0 || (await canListen("127.0.0.1", port))) return;
  throw failedPrecondition(
    `127.0.0.1:${port}`,
    `${portHolder(port) ?? "something else"} listens on 127.0.0.1:${port}, which is to be the port of ${whose}. Stop it, or choose another: npm start -- ${flag}=0 takes a free one`,
  );
}
