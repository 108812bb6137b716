import { Fault, sleep, type Ambient } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import { acquire, type Ownership } from "@oaas/storage";
import { isCallable } from "../clusters/cluster-health.ts";
import type { ClusterDirectory, CrmGateway, HealthReading, RuntimeChange, UnitReport } from "../ports.ts";
import { isOpen } from "../saga-engine/saga.ts";
import type { DeploymentContext } from "../deployments/context.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { withReports, type ClusterReports } from "./observed-drift.ts";
import { repairAll, type Finding, type Reports } from "./repairs.ts";
import { SurplusUnits, type SurplusReport } from "./surplus-units.ts";
import type { UnaccountedUnit } from "../records/unaccounted-unit.ts";
import { clustersExcept, PendingWork } from "./pending-work.ts";
import { subjectOf } from "../records/deployment-saga.ts";

export interface DriftReconcilerOptions {
  readonly context: DeploymentContext;
  readonly gateway: CrmGateway;
  readonly clusters: ClusterDirectory;
  readonly managedBy: string;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** What a cluster that is followed last told of a unit. */
  readonly lastReport: (cluster: ClusterName, unitId: UnitId) => UnitReport | undefined;
  /** Asks a cluster for which something waits how it is, now, and often from then on until it answers; never rejects. */
  readonly checkHealth: (cluster: ClusterName) => Promise<HealthReading>;
  /** How often everything is looked at. */
  readonly intervalMs?: number;
  readonly leaseMs?: number;
}

/** What one look at the clusters found and did. */
export interface Sweep extends SurplusReport {
  /** Clusters that could not be asked. */
  readonly away: readonly ClusterName[];
  /** Deployments for which a repair began. */
  readonly repaired: readonly DeploymentKey[];
}

const KEY = "o/keeper";
/** News are gathered this long, so that a burst of them is one piece of work. */
const CALM_MS = 200;
/** How long nothing is looked for while a look is under way, which tells when it ends. */
const IDLE_MS = 60_000;
/** A unit that was sent before its deployment ended is there by then, if ever; looked for longer while a cluster is away. */
const REMEMBER_ENDINGS_MS = 60 * 60_000;
const REMEMBER_ENDINGS_AWAY_MS = 30 * 24 * 60 * 60_000;

/**
 * Keeps clusters as they should be: compares what their managers report with what is wanted, and repairs.
 *
 * *Guarantees*: one keeper per store; never acts while a saga of the deployment is under way, nor on news older than its last
 * write; removes a unit only when it says that it is ours and, in two looks, belonged to nothing that we know and was no newer than what we
 * know; writes nothing when nothing changed; what a cluster tells is taken in at once, and what waits for one is done when it is known to be
 * back, however long a look at all of them takes.
 */
export class DriftReconciler {
  readonly #options: DriftReconcilerOptions;
  readonly #surplus: SurplusUnits;
  readonly #waiting: PendingWork;
  readonly #stop = new AbortController();
  readonly #news = new Map<DeploymentKey, Map<ClusterName, ClusterReports>>();
  /** Deployments whose saga ended: what was told of them meanwhile was left aside. */
  readonly operationEnded = new Set<DeploymentKey>();
  #sweeping: Promise<void> | undefined;
  #sweepDueAtMs = 0;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: DriftReconcilerOptions) {
    this.#options = options;
    this.#surplus = new SurplusUnits(options);
    this.#waiting = new PendingWork({
      context: options.context,
      check: options.checkHealth,
      onDue: (key) => this.settled(key),
    });
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Units that bear our name and are newer than our store; the same in every process of the installation, soon. */
  get unaccounted(): readonly UnaccountedUnit[] {
    return this.#options.context.unaccounted.units;
  }

  /** A cluster answers again: what waits for it is done now, and everything is looked at soon. */
  clusterReturned(cluster: ClusterName): void {
    this.#waiting.cameBack(cluster);
    this.#sweepDueAtMs = 0;
    this.#wake?.();
  }

  /** Takes in one change that a cluster told; what is news is acted upon soon. */
  observe(cluster: ClusterName, change: RuntimeChange): void {
    if (change.type !== "changed" && change.type !== "removed") return;
    const unitId = change.type === "changed" ? change.report.unitId : change.unitId;
    const key = change.type === "changed" ? change.report.deploymentKey : this.#keyOf(cluster, unitId);
    const record = key === undefined ? undefined : this.#options.context.view.get(key)?.record;
    if (key === undefined || record === undefined || this.#isUnderWay(key)) return;
    const told: ClusterReports = new Map(change.type === "changed" ? [[unitId, change.report]] : []);
    if (withReports(record, new Map([[cluster, told]])) === record) return;
    this.#tell(key as DeploymentKey, cluster, told);
    this.#wake?.();
  }

  /** The operation on a deployment ended: what clusters told of it meanwhile is taken in soon. */
  settled(key: DeploymentKey): void {
    this.operationEnded.add(key);
    this.#wake?.();
  }

  /** One look at every cluster that answers. */
  async sweep(signal: AbortSignal = this.#stop.signal): Promise<Sweep> {
    const { clusters, context, logger } = this.#options;
    const before = [...context.view.all()];
    const names = clusters.list().map(({ name }) => name);
    const asked = await Promise.all(names.map((name) => this.#ask(name, signal)));
    const reports = new Map(names.flatMap((name, at) => (asked[at] === undefined ? [] : [[name, asked[at]] as const])));
    const findings = before.map((seen): Finding => ({ seen, reports, away: clustersExcept(reports, seen.record) }));
    const away = names.filter((name) => !reports.has(name));
    this.#waiting.looking(away);
    const repaired = await repairAll(context, logger, findings);
    const surplus = await this.#surplus.remove(reports, signal);
    await context.unaccounted.record(surplus.unaccounted, away);
    const isAllSeen = away.length === 0 && surplus.suspected.length === 0;
    const rememberMs = isAllSeen ? REMEMBER_ENDINGS_MS : REMEMBER_ENDINGS_AWAY_MS;
    await context.deployments.ended.forgetUpTo(this.#options.ambient.clock.now() - rememberMs, signal);
    return { away, repaired, ...surplus };
  }

  /** Undefined when the cluster cannot be asked. */
  async #ask(cluster: ClusterName, signal: AbortSignal): Promise<Map<UnitId, UnitReport> | undefined> {
    const { gateway, clusters } = this.#options;
    if (!isCallable(await clusters.reading(cluster, { signal }))) return undefined;
    try {
      const told = new Map<UnitId, UnitReport>();
      for await (const report of gateway.runtimes(cluster, {}, { signal })) told.set(report.unitId, report);
      return told;
    } catch (thrown) {
      this.#options.logger.debug("a cluster could not be looked at", { cluster, error: Fault.from(thrown) });
      return undefined;
    }
  }

  #tell(key: DeploymentKey, cluster: ClusterName, told: ClusterReports): void {
    this.#news.set(key, (this.#news.get(key) ?? new Map<ClusterName, ClusterReports>()).set(cluster, told));
  }

  async #actOnNews(): Promise<void> {
    const { context, logger } = this.#options;
    const settled = [...this.operationEnded];
    const news = [...this.#news];
    this.operationEnded.clear();
    this.#news.clear();
    const fromNews = news.flatMap(([key, reports]): Finding[] => {
      const seen = context.view.get(key);
      return seen === undefined ? [] : [{ seen, reports, away: clustersExcept(reports, seen.record) }];
    });
    // Read from the store: the list may be a moment behind the end of the saga.
    const fromSettled = settled.map(async (key): Promise<Finding[]> => {
      const seen = await context.deployments.get(key);
      if (seen === undefined) return [];
      const reports = this.#heardOf(seen.record);
      const back = this.#waiting.afterSaga(key, seen.record);
      return [{ seen, reports, away: clustersExcept(new Set([...reports.keys(), ...back]), seen.record) }];
    });
    const findings = [...fromNews, ...(await Promise.all(fromSettled)).flat(), ...this.#waiting.take()];
    await repairAll(context, logger, findings);
  }

  /** What followed clusters told of the very units that they accepted; anything else may be older than these. */
  #heardOf(record: DeploymentRecord): Reports {
    const { lastReport: heard } = this.#options;
    return new Map(
      placementEntries(record).flatMap(([cluster, { unitId, digest }]) => {
        const report = heard(cluster, unitId);
        return report?.digest === undefined || report.digest !== digest
          ? []
          : [[cluster, new Map([[unitId, report]])] as const];
      }),
    );
  }

  /** Then nothing may be done now; `settled` tells when it is over. */
  #isUnderWay(key: string): boolean {
    const saga = this.#options.context.engine.peek(subjectOf(key as DeploymentKey));
    return saga !== undefined && isOpen(saga);
  }

  #keyOf(cluster: ClusterName, unitId: UnitId): string | undefined {
    for (const { id, record } of this.#options.context.view.all()) {
      if (record.placements[cluster]?.unitId === unitId) return id;
    }
    return undefined;
  }

  async #run(): Promise<void> {
    const { context, ambient, logger, leaseMs = 15_000 } = this.#options;
    const { signal } = this.#stop;
    let ownership: Ownership | undefined;
    while (!signal.aborted) {
      try {
        if (ownership === undefined || ownership.lease.lost.aborted) {
          const acquired = await acquire(context.store, { key: KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          ownership = acquired.owned ? acquired.ownership : undefined;
        }
        if (ownership === undefined) {
          this.#pauseFor(leaseMs);
          await context.unaccounted.refresh();
        } else {
          await this.#actOnNews();
          this.#sweepWhenDue(AbortSignal.any([signal, ownership.lease.lost]));
        }
      } catch (thrown) {
        if (signal.aborted) break;
        logger.warn("a look at the clusters was cut short", { error: Fault.from(thrown) });
        this.#pauseFor(leaseMs);
      }
      await this.#rest();
    }
    await this.#sweeping;
    await ownership?.release().catch(() => undefined);
  }

  /** Another process keeps this store and hears the same news, or it cannot be done now: the next look sees everything. */
  #pauseFor(ms: number): void {
    this.#news.clear();
    this.operationEnded.clear();
    this.#waiting.clear();
    this.#sweepDueAtMs = this.#now() + ms;
  }

  /** Looks at everything beside the news, which do not wait for a cluster that is slow to answer. */
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
        logger.warn("a look at the clusters was cut short", { error: Fault.from(thrown) });
        this.#sweepDueAtMs = this.#now() + leaseMs;
        this.#wake?.();
      },
    );
  }

  /** Until there is something to do; then a moment longer, in case there is more. */
  async #rest(): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (this.#news.size === 0 && this.operationEnded.size === 0 && !this.#waiting.isDue) {
      // A look that is under way wakes this when it ends.
      const delayMs = this.#sweeping === undefined ? Math.max(0, this.#sweepDueAtMs - this.#now()) : IDLE_MS;
      await sleep(timers, delayMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    }
    this.#wake = undefined;
    await sleep(timers, CALM_MS, signal).catch(() => undefined);
  }

  #now(): number {
    return this.#options.ambient.clock.monotonic();
  }
}
