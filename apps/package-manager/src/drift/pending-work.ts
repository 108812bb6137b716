import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { CollectionView } from "@oaas/storage";
import type { HealthReading } from "../ports.ts";
import { isPermanent } from "../records/deployment-outcome.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { repairSaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { Finding } from "./repairs.ts";

export interface PendingWorkOptions {
  readonly view: Pick<CollectionView<DeploymentRecord>, "all">;
  readonly engine: Pick<SagaEngine, "peek">;
  readonly policy: RolloutPolicy;
  /** Checks the health of a cluster now, and often until it answers. */
  readonly checkHealth: (cluster: ClusterName) => Promise<HealthReading>;
  /** Called when a deployment has work to do. */
  readonly onDue: (key: DeploymentKey) => void;
}

const NO_CLUSTERS: ReadonlySet<ClusterName> = new Set();
const NO_REPORTS = new Map<never, never>();

/**
 * Sends and removals that wait for an unreachable cluster.
 *
 * *Guarantees*: the work is due as soon as the cluster answers, also when a saga of the deployment was running then. Work
 * that fails although the cluster answers is due once more, and then left to the next sweep.
 */
export class PendingWork {
  readonly #options: PendingWorkOptions;
  /** Clusters that answer again and are not handled yet. */
  readonly #returned = new Set<ClusterName>();
  /** Clusters that returned while a saga of the deployment was running. */
  readonly #deferred = new Map<DeploymentKey, Set<ClusterName>>();
  /** Work that was retried since the last sweep, as `cluster/key`. */
  readonly #retried = new Set<string>();

  constructor(options: PendingWorkOptions) {
    this.#options = options;
  }

  get isDue(): boolean {
    return this.#returned.size > 0;
  }

  clusterReturned(cluster: ClusterName): void {
    this.#returned.add(cluster);
    for (const name of this.#retried) if (name.startsWith(`${cluster}/`)) this.#retried.delete(name);
  }

  /** The deployments to repair in clusters that returned. Each returned cluster is handled once. */
  takeDue(): readonly Finding[] {
    if (this.#returned.size === 0) return [];
    const { view, engine } = this.#options;
    const returned = new Set(this.#returned);
    this.#returned.clear();
    const findings: Finding[] = [];
    for (const stored of view.all()) {
      const key = stored.id as DeploymentKey;
      const clusters = placementEntries(stored.record).flatMap(([cluster]) => (returned.has(cluster) ? [cluster] : []));
      if (clusters.length === 0) continue;
      const saga = engine.peek(subjectOf(key));
      if (saga !== undefined && isOpen(saga)) for (const cluster of clusters) this.#defer(key, cluster);
      else findings.push({ stored, reports: NO_REPORTS, excluded: clustersExcept(new Set(clusters), stored.record) });
    }
    return findings;
  }

  /**
   * The clusters that returned while the saga of a deployment was running. When there are none, the clusters that the
   * saga could not reach are checked.
   */
  afterSaga(key: DeploymentKey, record: DeploymentRecord): ReadonlySet<ClusterName> {
    const deferred = this.#deferred.get(key);
    this.#deferred.delete(key);
    if (deferred !== undefined) return deferred;
    for (const [cluster, { fault }] of placementEntries(record)) {
      const name = `${cluster}/${key}`;
      if (fault === undefined || isPermanent(fault) || this.#retried.has(name)) continue;
      this.#retried.add(name);
      void this.#options.checkHealth(cluster).then(({ error }) => {
        if (error !== undefined) return;
        this.#defer(key, cluster);
        this.#options.onDue(key);
      });
    }
    return NO_CLUSTERS;
  }

  /** Before a sweep: unreachable clusters with pending work are checked often. */
  beforeSweep(unreachable: readonly ClusterName[]): void {
    const { view, checkHealth } = this.#options;
    this.#retried.clear();
    for (const cluster of unreachable) {
      for (const { record } of view.all()) {
        if (record.placements[cluster] === undefined || !this.#hasWork(record, cluster)) continue;
        void checkHealth(cluster);
        break;
      }
    }
  }

  /** Drops everything, because another process does the work. */
  clear(): void {
    this.#returned.clear();
    this.#deferred.clear();
    this.#retried.clear();
  }

  #hasWork(record: DeploymentRecord, cluster: ClusterName): boolean {
    const excluded = clustersExcept(new Set([cluster]), record);
    return repairSaga(record, excluded, this.#options.policy, { by: "", correlationId: "" }) !== undefined;
  }

  #defer(key: DeploymentKey, cluster: ClusterName): void {
    this.#deferred.set(key, (this.#deferred.get(key) ?? new Set<ClusterName>()).add(cluster));
  }
}

/** The clusters of a deployment without the given ones. */
export function clustersExcept(
  clusters: { has(cluster: ClusterName): boolean },
  record: DeploymentRecord,
): ReadonlySet<string> {
  return new Set((Object.keys(record.placements) as ClusterName[]).filter((name) => !clusters.has(name)));
}
