import { Fault } from "@oaas/foundation";
import { LifecyclePhase, type ClusterName, type DeploymentKey, type UnitId } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import type { CrmGateway, UnitReport } from "../ports.ts";
import type { DeploymentContext } from "./context.ts";

export interface SurplusOptions {
  readonly context: DeploymentContext;
  readonly gateway: CrmGateway;
  readonly managedBy: string;
  readonly logger: Logger;
}

/** Units that clusters have and nobody wants. */
export interface SurplusFound {
  /** Ours, unknown in two looks, and removed now. */
  readonly removed: readonly UnitId[];
  /** Of somebody else, or of nobody who says so; never touched. */
  readonly foreign: number;
}

/** Removes what reached a cluster after everybody who knew of it was gone. */
export class Surplus {
  readonly #options: SurplusOptions;
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: SurplusOptions) {
    this.#options = options;
  }

  /** Looks at reports that were read before now, so that a wish not known yet cannot be among them. */
  async remove(
    reports: ReadonlyMap<ClusterName, ReadonlyMap<UnitId, UnitReport>>,
    signal: AbortSignal,
  ): Promise<SurplusFound> {
    const suspects = new Set<string>();
    const removed: UnitId[] = [];
    let foreign = 0;
    for (const [cluster, units] of reports) {
      for (const report of units.values()) {
        if (report.managedBy !== this.#options.managedBy) foreign += 1;
        else if (report.phase !== LifecyclePhase.deleting && !(await this.#isKnown(cluster, report))) {
          const name = `${cluster}/${report.unitId}`;
          if (this.#suspects.has(name) && (await this.#removeOne(cluster, report.unitId, signal))) {
            removed.push(report.unitId);
          } else suspects.add(name);
        }
      }
    }
    this.#suspects = suspects;
    return { removed, foreign };
  }

  async #isKnown(cluster: ClusterName, { unitId, deploymentKey }: UnitReport): Promise<boolean> {
    if (deploymentKey === undefined) return false;
    const { view, deployments } = this.#options.context;
    if (view.get(deploymentKey)?.record.placements[cluster]?.unitId === unitId) return true;
    const stored = await deployments.get(deploymentKey as DeploymentKey);
    return stored?.record.placements[cluster]?.unitId === unitId;
  }

  async #removeOne(cluster: ClusterName, unitId: UnitId, signal: AbortSignal): Promise<boolean> {
    const { gateway, logger } = this.#options;
    try {
      await gateway.remove(cluster, unitId, { signal });
      logger.info("a unit of ours that no deployment knows was removed", { cluster, unitId });
      return true;
    } catch (thrown) {
      logger.warn("a surplus unit could not be removed", { cluster, unitId, error: Fault.from(thrown) });
      return false;
    }
  }
}
