import { Fault, sleep, type Ambient } from "@oaas/foundation";
import { ClusterStatus, type ClusterName, type DeploymentKey, type UnitId } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import { acquire, type Ownership } from "@oaas/storage";
import type { ClusterDirectory, CrmGateway, RuntimeChange, UnitReport } from "../ports.ts";
import type { DeploymentContext } from "./context.ts";
import type { DeploymentRecord } from "./deployment-record.ts";
import { observedIn, type ClusterReports } from "./drift.ts";
import { repairAll, type Finding } from "./repairs.ts";
import { Surplus, type SurplusFound } from "./surplus.ts";

export interface KeeperOptions {
  readonly context: DeploymentContext;
  readonly gateway: CrmGateway;
  readonly clusters: ClusterDirectory;
  readonly managedBy: string;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** How often everything is looked at when nothing happens. */
  readonly intervalMs?: number;
  readonly leaseMs?: number;
}

/** What one look at the clusters found and did. */
export interface Sweep extends SurplusFound {
  /** Clusters that could not be asked. */
  readonly away: readonly ClusterName[];
  /** Deployments for which a repair began. */
  readonly repaired: readonly DeploymentKey[];
}

const KEY = "o/keeper";
/** News are gathered this long, so that a burst of them is one piece of work. */
const CALM_MS = 500;

/**
 * Keeps clusters as they should be: compares what their managers report with what is wanted, and repairs.
 *
 * *Guarantees*: one keeper per store; never acts while a saga of the deployment is under way, nor on news older than its last
 * write; removes a unit only when it says that it is ours and was unknown to us in two looks; writes nothing when nothing changed.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #surplus: Surplus;
  readonly #stop = new AbortController();
  readonly #news = new Map<string, Map<ClusterName, ClusterReports>>();
  #isSweepDue = true;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#surplus = new Surplus(options);
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** A cluster came back, or something else that only a look at everything can tell: look soon. */
  nudge(): void {
    this.#isSweepDue = true;
    this.#wake?.();
  }

  /** Takes in one change that a cluster told; what is news is acted upon soon. */
  observe(cluster: ClusterName, change: RuntimeChange): void {
    if (change.type !== "changed" && change.type !== "removed") return;
    const unitId = change.type === "changed" ? change.report.unitId : change.unitId;
    const key = change.type === "changed" ? change.report.deploymentKey : this.#keyOf(cluster, unitId);
    const record = key === undefined ? undefined : this.#options.context.view.get(key)?.record;
    if (key === undefined || record === undefined) return;
    const told: ClusterReports = new Map(change.type === "changed" ? [[unitId, change.report]] : []);
    if (observedIn(record, new Map([[cluster, told]])) === record) return;
    this.#news.set(key, (this.#news.get(key) ?? new Map<ClusterName, ClusterReports>()).set(cluster, told));
    this.#wake?.();
  }

  /** One look at every cluster that answers. */
  async sweep(signal: AbortSignal = this.#stop.signal): Promise<Sweep> {
    const { clusters, context, logger } = this.#options;
    const before = [...context.view.all()];
    const names = clusters.list().map(({ name }) => name);
    const asked = await Promise.all(names.map((name) => this.#ask(name, signal)));
    const reports = new Map(names.flatMap((name, at) => (asked[at] === undefined ? [] : [[name, asked[at]] as const])));
    const findings = before.map((seen): Finding => ({ seen, reports, away: othersThan(reports, seen.record) }));
    return {
      away: names.filter((name) => !reports.has(name)),
      repaired: await repairAll(context, logger, findings),
      ...(await this.#surplus.remove(reports, signal)),
    };
  }

  /** Undefined when the cluster cannot be asked. */
  async #ask(cluster: ClusterName, signal: AbortSignal): Promise<Map<UnitId, UnitReport> | undefined> {
    const { gateway, clusters } = this.#options;
    const { breaker, health } = await clusters.reading(cluster, { signal });
    if (breaker === "open" || health.status === ClusterStatus.unhealthy) return undefined;
    try {
      const told = new Map<UnitId, UnitReport>();
      for await (const report of gateway.runtimes(cluster, {}, { signal })) told.set(report.unitId, report);
      return told;
    } catch (thrown) {
      this.#options.logger.debug("a cluster could not be looked at", { cluster, error: Fault.from(thrown) });
      return undefined;
    }
  }

  async #actOnNews(): Promise<void> {
    const { context, logger } = this.#options;
    const findings = [...this.#news].flatMap(([key, reports]): Finding[] => {
      const seen = context.view.get(key);
      return seen === undefined ? [] : [{ seen, reports, away: othersThan(reports, seen.record) }];
    });
    this.#news.clear();
    await repairAll(context, logger, findings);
  }

  #keyOf(cluster: ClusterName, unitId: UnitId): string | undefined {
    for (const { id, record } of this.#options.context.view.all()) {
      if (record.placements[cluster]?.unitId === unitId) return id;
    }
    return undefined;
  }

  async #run(): Promise<void> {
    const { context, ambient, logger, leaseMs = 15_000, intervalMs = 60_000 } = this.#options;
    const { signal } = this.#stop;
    let ownership: Ownership | undefined;
    while (!signal.aborted) {
      let restMs = leaseMs;
      try {
        if (ownership === undefined || ownership.lease.lost.aborted) {
          const acquired = await acquire(context.store, { key: KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          ownership = acquired.owned ? acquired.ownership : undefined;
        }
        if (ownership === undefined) this.#forget();
        else {
          await this.#work(AbortSignal.any([signal, ownership.lease.lost]));
          restMs = intervalMs;
        }
      } catch (thrown) {
        if (signal.aborted) break;
        logger.warn("a look at the clusters was cut short", { error: Fault.from(thrown) });
        this.#forget();
      }
      await this.#rest(restMs);
    }
    await ownership?.release().catch(() => undefined);
  }

  /** Another process keeps this store and hears the same news, or it cannot be done now: the next look sees everything. */
  #forget(): void {
    this.#news.clear();
    this.#isSweepDue = false;
  }

  async #work(signal: AbortSignal): Promise<void> {
    if (this.#news.size > 0) await this.#actOnNews();
    if (!this.#isSweepDue) return;
    this.#isSweepDue = false;
    await this.sweep(signal);
  }

  async #rest(delayMs: number): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (!this.#isSweepDue && this.#news.size === 0) {
      await sleep(timers, delayMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    }
    this.#wake = undefined;
    if (woken.signal.aborted) await sleep(timers, CALM_MS, signal).catch(() => undefined);
    else this.#isSweepDue = true;
  }
}

/** Clusters of a deployment of which nothing was heard just now: they are left alone. */
function othersThan(reports: ReadonlyMap<ClusterName, unknown>, record: DeploymentRecord): ReadonlySet<string> {
  return new Set((Object.keys(record.placements) as ClusterName[]).filter((name) => !reports.has(name)));
}
