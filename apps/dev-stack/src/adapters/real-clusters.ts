import path from "node:path";
import type { Logger } from "@oaas/observability";
import { componentFile, onPath } from "@oaas/real-components";
import { planClusters } from "../clusters/plan-clusters.ts";
import { StackCluster } from "../clusters/stack-cluster.ts";
import type { DevStackConfig } from "../config.ts";
import { managerOf, type ManagerOptions } from "./manager.ts";
import { checkPorts, realClusterStarter } from "./real-cluster.ts";

export interface RealClustersOptions extends ManagerOptions {
  readonly config: DevStackConfig["clusters"];
  readonly dataDir: string;
  readonly logger: Logger;
}

/** The clusters of the stack, not started yet. Throws at once when a setting of a manager is wrong. */
export function realClusters({ config, dataDir, logger, ...managers }: RealClustersOptions): readonly StackCluster[] {
  const startCluster = realClusterStarter();
  return planClusters(config, path.join(dataDir, "clusters")).map(
    (plan) =>
      new StackCluster(plan, {
        ambient: managers.ambient,
        logger,
        checkPorts,
        startCluster,
        startManager: managerOf(plan, managers),
      }),
  );
}

/** How to call kubectl: the machine's own, else the one that came with the cluster. */
export function kubectlCommand(): string {
  return onPath("kubectl") === undefined ? componentFile("kubectl") : "kubectl";
}
