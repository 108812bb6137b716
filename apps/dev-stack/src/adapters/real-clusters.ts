import path from "node:path";
import type { Logger } from "@oaas/observability";
import { componentFile, onPath } from "@oaas/real-components";
import { StackCluster } from "../clusters/stack-cluster.ts";
import type { DevStackConfig } from "../config.ts";
import { exampleClasses } from "./examples.ts";
import { managerOf, type ManagerOptions } from "./manager.ts";
import { startRealCluster } from "./real-cluster.ts";

export interface RealClustersOptions extends ManagerOptions {
  readonly config: DevStackConfig["cluster"];
  readonly dataDir: string;
  readonly logger: Logger;
}

/** The clusters of the stack, not started yet: one today. Throws at once when a setting of a manager is wrong. */
export function realClusters({ config, dataDir, logger, ...managers }: RealClustersOptions): readonly StackCluster[] {
  return ["local"].map((name) => {
    const plan = { ...config, name, folder: path.join(dataDir, "clusters", name) };
    return new StackCluster(plan, {
      ambient: managers.ambient,
      logger,
      startCluster: startRealCluster,
      startManager: managerOf(plan, managers),
      examples: exampleClasses,
    });
  });
}

/** How to call kubectl: the machine's own, else the one that came with the cluster. */
export function kubectlCommand(): string {
  return onPath("kubectl") === undefined ? componentFile("kubectl") : "kubectl";
}
