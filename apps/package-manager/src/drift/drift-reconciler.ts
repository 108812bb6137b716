import { Fault, sleep, type Ambient } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { LOG_FIELDS, NOOP_METER, type Logger, type Meter } from "@oaas/observability";
import { acquire, type CollectionView, type KeyValueStore, type Ownership } from "@oaas/storage";
import { isCallable } from "../clusters/cluster-health.ts";
import type { SagaLauncher } from "../deployments/saga-launcher.ts";
import type { ClusterDirectory, CrmGateway, HealthReading, RuntimeChange, UnitReport } from "../ports.ts";
import { isAbout, placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import type { UnitAddress, UnitTable } from "../records/unit-table.ts";
import type { UnaccountedUnit } from "../records/unaccounted-unit.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import type { RolloutPolicy } from "../sagas/saga-plans.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import { driftMetrics, type DriftMetrics } from "./drift-metrics.ts";
import { reportsByUnit, withReports, type ClusterReports, type Reports } from "./observed-drift.ts";
import { clustersExcept, PendingWork } from "./pending-work.ts";
import { repairAll, type Finding, type RepairDeps } from "./repairs.ts";
import { SurplusUnits, type SurplusReport } from "./surplus-units.ts";

export interface DriftReconcilerOptions {
  readonly store: KeyValueStore;
  readonly deployments: DeploymentStore;
  readonly view: Pick<CollectionView<DeploymentRecord>, "all" | "get">;
  readonly engine: Pick<SagaEngine, "get" | "peek">;
  readonly launcher: SagaLauncher;
  readonly policy: RolloutPolicy;
  readonly pauses: RepairDeps["pauses"];
  readonly unaccounted: UnaccountedUnits;
  readonly gateway: Pick<CrmGateway, "remove" | "runtimes">;
  readonly clusters: Pick<ClusterDirectory, "list" | "reading">;
  readonly managedBy: string;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter?: Meter;
  /** The last report of a watched cluster about a unit. */
  readonly lastReport: (cluster: ClusterName, unit: UnitAddress) => UnitReport | undefined;
  /** Checks the health of a cluster now, and often until it answers; never rejects. */
  readonly checkHealth: (cluster: ClusterName) => Promise<HealthReading>;
  /** A unit was found changed or missing; it is sent again. */
  readonly onDrift?: NonNullable<RepairDeps["onDrift"]>;
  /** The time between two sweeps. */
  readonly intervalMs?: number;
  readonly leaseMs?: number;
}

/** The result of one sweep over all clusters. */
export interface Sweep extends SurplusReport {
  readonly unreachable: readonly ClusterName[];
  /** Deployments for which a repair was started. */
  readonly repaired: readonly DeploymentKey[];
}

/** The lease of the reconciler. The name is stored, so it stays the same across versions. */
const LEASE_KEY = "o/keeper";
/** Changes are collected for this time, so that a burst is handled at once. */
const DEBOUNCE_MS = 200;
/** The longest sleep during a sweep, which wakes the loop when it ends. */
const IDLE_MS = 60_000;
/** A unit that was sent before its deployment ended arrives within this time, or later while a cluster is unreachable. */
const KEEP_ENDED_MS = 60 * 60_000;
const KEEP_ENDED_UNREACHABLE_MS = 30 * 24 * 60 * 60_000;

/**
 * Compares the reports of clusters with the desired state, and repairs the differences.
 *
 * *Guarantees*
 * - One reconciler is active per store.
 * - It never acts while a saga of the deployment is running, nor on reports older than the last write.
 * - It removes a unit only when this installation owns it, and in two sweeps no deployment wanted it and it was not newer
 *   than the store.
 * - It writes nothing when nothing changed.
 * - Changes of a cluster and its return are handled at once, even during a long sweep.
 */
export class DriftReconciler {
  readonly #options: DriftReconcilerOptions;
  readonly #repairs: RepairDeps;
  readonly #surplus: SurplusUnits;
  readonly #pending: PendingWork;
  readonly #metrics: DriftMetrics;
  readonly #stop = new AbortController();
  readonly #changes = new Map<DeploymentKey, Map<ClusterName, ClusterReports>>();
  /** Deployments whose saga ended. Reports during the saga were ignored, so they are read again. */
  readonly #ended = new Set<DeploymentKey>();
  #sweeping: Promise<void> | undefined;
  #sweepDueAtMs = 0;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: DriftReconcilerOptions) {
    const { ambient, view, engine, policy, checkHealth } = options;
    this.#options = options;
    this.#metrics = driftMetrics(options.meter ?? NOOP_METER);
    this.#repairs = {
      ...options,
      ids: ambient.ids,
      clock: ambient.clock,
      onDrift: (key, cluster, correction) => {
        this.#metrics.drifted.add(1);
        options.onDrift?.(key, cluster, correction);
      },
    };
    this.#surplus = new SurplusUnits(options);
    const onDue = (key: DeploymentKey): void => this.operationEnded(key);
    this.#pending = new PendingWork({ view, engine, policy, checkHealth, onDue });
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Own units that are newer than the store; the same in every process of the installation, with a delay. */
  get unaccounted(): readonly UnaccountedUnit[] {
    return this.#options.unaccounted.units;
  }

  /** A cluster answers again: its pending work is done now, and a sweep follows. */
  clusterReturned(cluster: ClusterName): void {
    this.#pending.clusterReturned(cluster);
    this.#sweepDueAtMs = 0;
    this.#wake?.();
  }

  /** Queues a change that a watched cluster reported. */
  observe(cluster: ClusterName, change: RuntimeChange): void {
    if (change.type !== "changed" && change.type !== "removed") return;
    const unit = change.type === "changed" ? change.report : change;
    const key = change.type === "changed" ? change.report.deploymentKey : this.#keyOf(cluster, unit);
    const record = key === undefined ? undefined : this.#options.view.get(key)?.record;
    if (key === undefined || record === undefined || this.#hasRunningSaga(key)) return;
    const placement = record.placements[cluster];
    // Another owner may have a unit with the same id in another namespace.
    if (placement === undefined || !isAbout(placement, unit)) return;
    const reports: ClusterReports = reportsByUnit(change.type === "changed" ? [change.report] : []);
    if (withReports(record, new Map([[cluster, reports]])) === record) return;
    this.#queueChange(key as DeploymentKey, cluster, reports);
    this.#wake?.();
  }

  /** An operation on a deployment ended: the reports received during it are handled now. */
  operationEnded(key: DeploymentKey): void {
    this.#ended.add(key);
    this.#wake?.();
  }

  /** Compares every reachable cluster with the desired state. */
  async sweep(signal: AbortSignal = this.#stop.signal): Promise<Sweep> {
    const { clusters, view, unaccounted, deployments, ambient } = this.#options;
    const startedAtMs = this.#now();
    const before = [...view.all()];
    const names = clusters.list().map(({ name }) => name);
    const listed = await Promise.all(names.map((name) => this.#listUnits(name, signal)));
    const reports = new Map(
      names.flatMap((name, at) => (listed[at] === undefined ? [] : [[name, listed[at]] as const])),
    );
    const findings = before.map((stored): Finding => ({
      stored,
      reports,
      excluded: clustersExcept(reports, stored.record),
    }));
    const unreachable = names.filter((name) => !reports.has(name));
    this.#pending.beforeSweep(unreachable);
    const repaired = await this.#repairAll(findings);
    const surplus = await this.#surplus.remove(reports, signal);
    await unaccounted.record(surplus.unaccounted, unreachable);
    const isComplete = unreachable.length === 0 && surplus.suspected.length === 0;
    const keepMs = isComplete ? KEEP_ENDED_MS : KEEP_ENDED_UNREACHABLE_MS;
    await deployments.ended.forgetUpTo(ambient.clock.now() - keepMs, signal);
    this.#metrics.removed.add(surplus.removed.length);
    this.#metrics.unreachable.set(unreachable.length);
    this.#metrics.sweeps.add(1, { outcome: unreachable.length === 0 ? "complete" : "partial" });
    this.#metrics.sweepSeconds.observe((this.#now() - startedAtMs) / 1000);
    return { unreachable, repaired, ...surplus };
  }

  async #repairAll(findings: Iterable<Finding>): Promise<readonly DeploymentKey[]> {
    const repaired = await repairAll(this.#repairs, findings);
    this.#metrics.repairs.add(repaired.length);
    return repaired;
  }

  /** The units of a cluster; undefined when it is unreachable. */
  async #listUnits(cluster: ClusterName, signal: AbortSignal): Promise<UnitTable<UnitReport> | undefined> {
    const { gateway, clusters } = this.#options;
    if (!isCallable(await clusters.reading(cluster, { signal }))) return undefined;
    try {
      const units = reportsByUnit();
      for await (const report of gateway.runtimes(cluster, {}, { signal })) units.set(report);
      return units;
    } catch (thrown) {
      this.#options.logger.debug("list units of cluster failed", { cluster, error: Fault.from(thrown) });
      return undefined;
    }
  }

  #queueChange(key: DeploymentKey, cluster: ClusterName, reports: ClusterReports): void {
    this.#changes.set(key, (this.#changes.get(key) ?? new Map<ClusterName, ClusterReports>()).set(cluster, reports));
  }

  async #handleChanges(): Promise<void> {
    const { view, deployments } = this.#options;
    const ended = [...this.#ended];
    const changes = [...this.#changes];
    this.#ended.clear();
    this.#changes.clear();
    const changed = changes.flatMap(([key, reports]): Finding[] => {
      const stored = view.get(key);
      return stored === undefined ? [] : [{ stored, reports, excluded: clustersExcept(reports, stored.record) }];
    });
    // Read from the store: the view may lag behind the end of the saga.
    const afterSagas = ended.map(async (key): Promise<Finding[]> => {
      const stored = await deployments.get(key).catch((thrown: unknown) => this.#skipUnreadable(key, thrown));
      if (stored === undefined) return [];
      const reports = this.#lastReports(stored.record);
      const returned = this.#pending.afterSaga(key, stored.record);
      const excluded = clustersExcept(new Set([...reports.keys(), ...returned]), stored.record);
      return [{ stored, reports, excluded }];
    });
    const findings = [...changed, ...(await Promise.all(afterSagas)).flat(), ...this.#pending.takeDue()];
    await this.#repairAll(findings);
  }

  /** Logs a deployment that this version cannot read; other faults concern the store and are thrown. */
  #skipUnreadable(key: DeploymentKey, thrown: unknown): undefined {
    const error = Fault.from(thrown);
    if (error.retryable) throw error;
    this.#options.logger.error("read deployment failed", { [LOG_FIELDS.deploymentId]: key, error });
  }

  /** The last reports about the accepted units. A report with another digest may be older than the acceptance. */
  #lastReports(record: DeploymentRecord): Reports {
    const { lastReport } = this.#options;
    return new Map(
      placementEntries(record).flatMap(([cluster, placement]) => {
        const report = lastReport(cluster, placement);
        return report?.digest === undefined || report.digest !== placement.digest
          ? []
          : [[cluster, reportsByUnit([report])] as const];
      }),
    );
  }

  /** A deployment with a running saga is left alone until `operationEnded`. */
  #hasRunningSaga(key: string): boolean {
    const saga = this.#options.engine.peek(subjectOf(key as DeploymentKey));
    return saga !== undefined && isOpen(saga);
  }

  #keyOf(cluster: ClusterName, unit: UnitAddress): string | undefined {
    for (const { id, record } of this.#options.view.all()) {
      const placement = record.placements[cluster];
      if (placement !== undefined && isAbout(placement, unit)) return id;
    }
    return undefined;
  }

  async #run(): Promise<void> {
    const { store, unaccounted, ambient, logger, leaseMs = 15_000 } = this.#options;
    const { signal } = this.#stop;
    let ownership: Ownership | undefined;
    while (!signal.aborted) {
      try {
        if (ownership === undefined || ownership.lease.lost.aborted) {
          const acquired = await acquire(store, { key: LEASE_KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          ownership = acquired.owned ? acquired.ownership : undefined;
        }
        this.#metrics.active.set(ownership === undefined ? 0 : 1);
        if (ownership === undefined) {
          this.#pauseFor(leaseMs);
          await unaccounted.refresh();
        } else {
          await this.#handleChanges();
          this.#sweepWhenDue(AbortSignal.any([signal, ownership.lease.lost]));
        }
      } catch (thrown) {
        if (signal.aborted) break;
        logger.warn("reconcile drift failed", { error: Fault.from(thrown) });
        this.#pauseFor(leaseMs);
      }
      await this.#sleep();
    }
    await this.#sweeping;
    await ownership?.release().catch(() => undefined);
  }

  /** Drops queued changes: another process handles them, or the next sweep does. */
  #pauseFor(ms: number): void {
    this.#changes.clear();
    this.#ended.clear();
    this.#pending.clear();
    this.#sweepDueAtMs = this.#now() + ms;
  }

  /** Sweeps in the background, so that changes do not wait for a slow cluster. */
  #sweepWhenDue(signal: AbortSignal): void {
    const { intervalMs = 60_000, leaseMs = 15_000, logger } = this.#options;
    if (this.#sweeping !== undefined || this.#now() < this.#sweepDueAtMs) return;
    this.#sweepDueAtMs = this.#now() + intervalMs;
    this.#sweeping = this.sweep(signal).then(
      () => {
        this.#sweeping = undefined;
        this.#wake?.();
      },
      (thrown: unknown) => {
        this.#sweeping = undefined;
        if (this.#stop.signal.aborted) return;
        this.#metrics.sweeps.add(1, { outcome: "failed" });
        logger.warn("sweep clusters failed", { error: Fault.from(thrown) });
        this.#sweepDueAtMs = this.#now() + leaseMs;
        this.#wake?.();
      },
    );
  }

  /** Sleeps until there is work, then for the debounce time. */
  async #sleep(): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (this.#changes.size === 0 && this.#ended.size === 0 && !this.#pending.isDue) {
      const delayMs = this.#sweeping === undefined ? Math.max(0, this.#sweepDueAtMs - this.#now()) : IDLE_MS;
      await sleep(timers, delayMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    }
    this.#wake = undefined;
    await sleep(timers, DEBOUNCE_MS, signal).catch(() => undefined);
  }

  #now(): number {
    return this.#options.ambient.clock.monotonic();
  }
}
