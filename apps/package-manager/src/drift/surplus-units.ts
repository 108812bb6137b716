import { omitUndefined } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { LifecyclePhase, type ClusterName, type DeploymentKey, type UnitId } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import type { CollectionView } from "@oaas/storage";
import type { CrmGateway, UnitReport } from "../ports.ts";
import { isAbout, type DeploymentRecord } from "../records/deployment-record.ts";
import type { UnaccountedUnit } from "../records/unaccounted-unit.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";

export interface SurplusUnitsOptions {
  readonly view: Pick<CollectionView<DeploymentRecord>, "get">;
  readonly deployments: Pick<DeploymentStore, "get" | "ended">;
  readonly gateway: Pick<CrmGateway, "remove">;
  readonly managedBy: string;
  readonly logger: Logger;
}

/** Units in clusters that no deployment wants. */
export interface SurplusReport {
  /** Own units that were surplus in two sweeps and are removed. */
  readonly removed: readonly UnitId[];
  /** Own units that are surplus for the first time; removed by the next sweep. */
  readonly suspected: readonly UnitId[];
  /** Own units that are newer than the store, or wanted in another cluster; left alone. */
  readonly unaccounted: readonly UnaccountedUnit[];
  /** The number of units of other owners, or without an owner; never touched. */
  readonly foreign: number;
}

/** The deployment of a unit, as the store knows it. */
export interface KnownDeployment {
  readonly record?: Pick<DeploymentRecord, "placements" | "unitRevision"> | undefined;
  /** The highest unit revision of a deployment that has ended. */
  readonly endedWith?: number | undefined;
}

/**
 * Classifies an own unit: wanted in this cluster, wanted in another one (`elsewhere`), surplus, or unaccounted.
 *
 * The id of a unit contains the name of its cluster. A unit under another name means that both names belong to one class
 * runtime manager: removing it under one name would remove the unit that is wanted under the other.
 *
 * A store restored from a backup has lost the deployments created after it, so an unknown unit is not surplus. It is
 * surplus only if the store has issued a revision as high as the unit's (ADR 0016).
 */
export function classifyUnit(
  cluster: ClusterName,
  unit: Pick<UnitReport, "unitId" | "namespace" | "revision">,
  { record, endedWith }: KnownDeployment,
): "wanted" | "elsewhere" | "surplus" | "unaccounted" {
  const { unitId, revision } = unit;
  const placement = record?.placements[cluster];
  if (placement !== undefined && isAbout(placement, unit)) return "wanted";
  if (record !== undefined && homeOf(unitId, record, cluster) !== undefined) return "elsewhere";
  const last = record?.unitRevision ?? endedWith;
  return last !== undefined && revision !== undefined && revision <= last ? "surplus" : "unaccounted";
}

/** The other cluster in which a deployment wants the unit. */
function homeOf(
  unitId: UnitId,
  { placements }: Pick<DeploymentRecord, "placements">,
  cluster: ClusterName,
): ClusterName | undefined {
  const names = Object.keys(placements) as ClusterName[];
  return names.find(
    (name) => name !== cluster && placements[name]?.unitId === unitId && placements[name].state !== "withdrawn",
  );
}

/** Removes units that reached a cluster after their deployment had ended or changed. */
export class SurplusUnits {
  readonly #options: SurplusUnitsOptions;
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: SurplusUnitsOptions) {
    this.#options = options;
  }

  /** Takes reports that were read before the call, so that they cannot contain a deployment that is not stored yet. */
  async remove(
    reports: ReadonlyMap<ClusterName, { values(): Iterable<UnitReport> }>,
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
        const known = await this.#lookUp(cluster, report).catch((thrown: unknown) => this.#skip(report, thrown));
        if (known === undefined) continue;
        const kind = classifyUnit(cluster, report, known);
        if (kind === "unaccounted" || kind === "elsewhere") {
          const home = known.record && homeOf(report.unitId, known.record, cluster);
          unaccounted.push(unaccountedUnit(cluster, report, home));
        } else if (kind === "surplus") {
          const name = `${cluster}/${report.namespace ?? ""}/${report.unitId}`;
          if (this.#suspects.has(name) && (await this.#removeOne(cluster, report, signal))) removed.push(report.unitId);
          else suspects.set(name, report.unitId);
        }
      }
    }
    this.#suspects = new Set(suspects.keys());
    return { removed, suspected: [...suspects.values()], unaccounted, foreign };
  }

  async #lookUp(cluster: ClusterName, report: UnitReport): Promise<KnownDeployment> {
    const { deploymentKey } = report;
    if (deploymentKey === undefined) return {};
    const { view, deployments } = this.#options;
    const listed = view.get(deploymentKey)?.record;
    const placement = listed?.placements[cluster];
    if (listed !== undefined && placement !== undefined && isAbout(placement, report)) return { record: listed };
    // The view may lag behind the store.
    const key = deploymentKey as DeploymentKey;
    const stored = await deployments.get(key);
    return stored === undefined
      ? { endedWith: await deployments.ended.lastUnitRevision(key) }
      : { record: stored.record };
  }

  /** Leaves the unit of an unreadable deployment alone; other faults concern the store and are thrown. */
  #skip({ unitId, deploymentKey }: UnitReport, thrown: unknown): undefined {
    const error = Fault.from(thrown);
    if (error.retryable) throw error;
    this.#options.logger.error("look up deployment of unit failed", {
      [LOG_FIELDS.deploymentId]: deploymentKey,
      unitId,
      error,
    });
  }

  /** Sends the reported revision, so that the cluster rejects the removal of a newer unit. */
  async #removeOne(cluster: ClusterName, report: UnitReport, signal: AbortSignal): Promise<boolean> {
    const { unitId, namespace, revision } = report;
    const { gateway, logger } = this.#options;
    try {
      await gateway.remove(cluster, unitId, { signal, namespace, ...(revision === undefined ? {} : { revision }) });
      logger.info("removed surplus unit", { cluster, namespace, unitId });
      return true;
    } catch (thrown) {
      logger.warn("remove surplus unit failed", { cluster, unitId, error: Fault.from(thrown) });
      return false;
    }
  }
}

function unaccountedUnit(
  cluster: ClusterName,
  { unitId, namespace, deploymentKey, revision, runtime }: UnitReport,
  home: ClusterName | undefined,
): UnaccountedUnit {
  const { packageName } = runtime;
  const prefix = `${packageName}.`;
  // Managers report the class key with its package.
  const classKey = runtime.classKey.startsWith(prefix) ? runtime.classKey.slice(prefix.length) : runtime.classKey;
  return omitUndefined({ cluster, home, unitId, namespace, deploymentKey, revision, packageName, classKey });
}
