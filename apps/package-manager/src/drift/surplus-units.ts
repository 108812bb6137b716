import { present } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { LifecyclePhase, type ClusterName, type DeploymentKey, type UnitId } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import type { CrmGateway, UnitReport } from "../ports.ts";
import type { DeploymentContext } from "../deployments/context.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { UnaccountedUnit } from "../records/unaccounted-unit.ts";

export interface SurplusUnitsOptions {
  readonly context: DeploymentContext;
  readonly gateway: CrmGateway;
  readonly managedBy: string;
  readonly logger: Logger;
}

/** Units that clusters have and nobody wants. */
export interface SurplusReport {
  /** Ours, surplus in two looks, and removed now. */
  readonly removed: readonly UnitId[];
  /** Ours, and surplus: removed at the next look. */
  readonly suspected: readonly UnitId[];
  /** Ours by name, but newer than our store, or wanted in another cluster: left as they are. */
  readonly unaccounted: readonly UnaccountedUnit[];
  /** Of somebody else, or of nobody who says so; never touched. */
  readonly foreign: number;
}

/** What the store knows of the deployment that a unit says it belongs to. */
export interface KnownDeployment {
  readonly record?: Pick<DeploymentRecord, "placements" | "unitRevision"> | undefined;
  /** The highest revision of its units when it was forgotten. */
  readonly endedWith?: number | undefined;
}

/**
 * What a unit of ours is to the store: of a deployment it knows, of one it knows to be over there, newer than all it knows, or the very unit
 * that the deployment has in another cluster.
 *
 * The id of a unit is made with the name of its cluster. Where one turns up under another name, the two are names of one class runtime
 * manager, and what would be removed under the one is what is wanted under the other.
 *
 * A store that was restored from a backup has forgotten what came after it: not knowing a unit is no proof that nobody wants it, having
 * given out a revision as high as the unit's is (ADR 0016).
 */
export function classifyUnit(
  cluster: ClusterName,
  { unitId, revision }: Pick<UnitReport, "unitId" | "revision">,
  { record, endedWith }: KnownDeployment,
): "wanted" | "elsewhere" | "surplus" | "unaccounted" {
  if (record?.placements[cluster]?.unitId === unitId) return "wanted";
  if (record !== undefined && homeOf(unitId, record) !== undefined) return "elsewhere";
  const last = record?.unitRevision ?? endedWith;
  return last !== undefined && revision !== undefined && revision <= last ? "surplus" : "unaccounted";
}

/** The cluster in which a deployment has a unit that is not to be taken away. */
function homeOf(unitId: UnitId, { placements }: Pick<DeploymentRecord, "placements">): ClusterName | undefined {
  const names = Object.keys(placements) as ClusterName[];
  return names.find((name) => placements[name]?.unitId === unitId && placements[name].state !== "withdrawn");
}

/** Removes what reached a cluster after everybody who knew of it was gone. */
export class SurplusUnits {
  readonly #options: SurplusUnitsOptions;
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: SurplusUnitsOptions) {
    this.#options = options;
  }

  /** Looks at reports that were read before now, so that a wish not known yet cannot be among them. */
  async remove(
    reports: ReadonlyMap<ClusterName, ReadonlyMap<UnitId, UnitReport>>,
    signal: AbortSignal,
  ): Promise<SurplusReport> {
    const suspects = new Map<string, UnitId>();
    const removed: UnitId[] = [];
    const unaccounted: UnaccountedUnit[] = [];
    let foreign = 0;
    for (const [cluster, units] of reports) {
      for (const report of units.values()) {
        if (report.managedBy !== this.#options.managedBy) {
          foreign += 1;
          continue;
        }
        if (report.phase === LifecyclePhase.deleting) continue;
        const knowledge = await this.#knowledgeOf(cluster, report);
        const standing = classifyUnit(cluster, report, knowledge);
        if (standing === "unaccounted" || standing === "elsewhere") {
          const home = knowledge.record && homeOf(report.unitId, knowledge.record);
          unaccounted.push(unaccountedUnit(cluster, report, home));
        } else if (standing === "surplus") {
          const name = `${cluster}/${report.unitId}`;
          if (this.#suspects.has(name) && (await this.#removeOne(cluster, report, signal))) removed.push(report.unitId);
          else suspects.set(name, report.unitId);
        }
      }
    }
    this.#suspects = new Set(suspects.keys());
    return { removed, suspected: [...suspects.values()], unaccounted, foreign };
  }

  async #knowledgeOf(cluster: ClusterName, { unitId, deploymentKey }: UnitReport): Promise<KnownDeployment> {
    if (deploymentKey === undefined) return {};
    const { view, deployments } = this.#options.context;
    const seen = view.get(deploymentKey)?.record;
    if (seen?.placements[cluster]?.unitId === unitId) return { record: seen };
    // Lists may be a moment behind.
    const key = deploymentKey as DeploymentKey;
    const stored = await deployments.get(key);
    return stored === undefined ? { endedWith: await deployments.ended.of(key) } : { record: stored.record };
  }

  /** With the revision that was seen: what took its place meanwhile is refused by the cluster. */
  async #removeOne(cluster: ClusterName, { unitId, revision }: UnitReport, signal: AbortSignal): Promise<boolean> {
    const { gateway, logger } = this.#options;
    try {
      await gateway.remove(cluster, unitId, { signal, ...(revision === undefined ? {} : { revision }) });
      logger.info("a unit of ours that no deployment knows was removed", { cluster, unitId });
      return true;
    } catch (thrown) {
      logger.warn("a surplus unit could not be removed", { cluster, unitId, error: Fault.from(thrown) });
      return false;
    }
  }
}

function unaccountedUnit(
  cluster: ClusterName,
  { unitId, deploymentKey, revision, runtime }: UnitReport,
  home: ClusterName | undefined,
): UnaccountedUnit {
  const { packageName } = runtime;
  const prefix = `${packageName}.`;
  // Managers tell the class with its package.
  const classKey = runtime.classKey.startsWith(prefix) ? runtime.classKey.slice(prefix.length) : runtime.classKey;
  return present({ cluster, home, unitId, deploymentKey, revision, packageName, classKey });
}
