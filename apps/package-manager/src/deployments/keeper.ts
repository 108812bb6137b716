import { Fault, isFault, sleep, type Ambient } from "@oaas/foundation";
import { ClusterStatus, LifecyclePhase, type ClusterName, type DeploymentKey, type UnitId } from "@oaas/models";
import type { Logger } from "@oaas/observability";
import { acquire, conflictOf, type Ownership } from "@oaas/storage";
import type { StoredDeployment } from "../adapters/store/deployment-store.ts";
import type { ClusterDirectory, CrmGateway, RuntimeChange, UnitReport } from "../ports.ts";
import { repairSaga } from "../sagas/saga-plans.ts";
import { launch, situation, underWay, type DeploymentContext } from "./context.ts";
import { observedIn, type ClusterReports } from "./drift.ts";

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
export interface Sweep {
  readonly away: readonly ClusterName[];
  /** Deployments for which a repair began. */
  readonly repaired: readonly DeploymentKey[];
  /** Units of ours that no deployment knows, removed. */
  readonly removed: readonly UnitId[];
  /** Units of somebody else; never touched. */
  readonly foreign: number;
}

const KEY = "o/keeper";
const ASKED = { by: "keeper", correlationId: "keeper" };
/** Deployments written to at the same time. */
const AT_ONCE = 16;
/** A change is looked at after this long, so that a burst of them is one look. */
const CALM_MS = 500;

/**
 * Keeps clusters as they should be: compares what their managers report with what is wanted, and repairs.
 *
 * *Guarantees*: one keeper per store; never acts while a saga of the deployment is under way, nor on news older than its last
 * write; removes a unit only when it says that it is ours and was unknown to us in two looks; writes nothing when nothing changed.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #stop = new AbortController();
  #suspects = new Set<string>();
  #wake: (() => void) | undefined;
  #nudged = false;
  #running: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Something may be other than it was: look soon. */
  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }

  /** Takes in one change that a cluster told, and looks soon when it is news. */
  observe(cluster: ClusterName, change: RuntimeChange): void {
    if (change.type === "removed") return this.nudge();
    if (change.type !== "changed") return;
    const { view } = this.#options.context;
    const { unitId, deploymentKey } = change.report;
    const record = deploymentKey === undefined ? undefined : view.get(deploymentKey)?.record;
    if (record === undefined) return;
    const reports = new Map([[cluster, new Map([[unitId, change.report]])]]);
    if (observedIn(record, reports) !== record) this.nudge();
  }

  /** One look at every cluster that answers. */
  async sweep(signal: AbortSignal = this.#stop.signal): Promise<Sweep> {
    const { clusters, context } = this.#options;
    const before = [...context.view.all()];
    const away: ClusterName[] = [];
    const reports = new Map<ClusterName, ClusterReports>();
    const foreign: string[] = [];
    const unknown: { readonly cluster: ClusterName; readonly report: UnitReport }[] = [];
    await Promise.all(
      clusters.list().map(async ({ name }) => {
        const told = await this.#ask(name, signal);
        if (told === undefined) away.push(name);
        else {
          reports.set(name, told);
          for (const report of told.values()) {
            if (report.managedBy !== this.#options.managedBy) foreign.push(report.unitId);
            else if (report.phase !== LifecyclePhase.deleting) unknown.push({ cluster: name, report });
          }
        }
      }),
    );
    const known = new Set(clusters.list().map(({ name }) => name));
    const out = new Set<string>(away);
    for (const { record } of before) {
      for (const name of Object.keys(record.placements)) if (!known.has(name as ClusterName)) out.add(name);
    }
    return {
      away,
      repaired: await this.#repairAll(before, reports, out),
      removed: await this.#removeSurplus(unknown, signal),
      foreign: foreign.length,
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

  async #repairAll(
    before: readonly StoredDeployment[],
    reports: ReadonlyMap<ClusterName, ClusterReports>,
    away: ReadonlySet<string>,
  ): Promise<DeploymentKey[]> {
    const { policy } = this.#options.context;
    const due = before.filter(({ record }) => {
      const next = observedIn(record, reports);
      return next !== record || repairSaga(next, away, policy, ASKED) !== undefined;
    });
    const repaired: DeploymentKey[] = [];
    const work = due.values();
    const worker = async (): Promise<void> => {
      for (const stored of work) {
        if (await this.#repair(stored, reports, away)) repaired.push(stored.id as DeploymentKey);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return repaired;
  }

  /** False when nothing had to be begun, or somebody else was faster: the next look sees what is left to do. */
  async #repair(
    seen: StoredDeployment,
    reports: ReadonlyMap<ClusterName, ClusterReports>,
    away: ReadonlySet<string>,
  ): Promise<boolean> {
    const { context, logger } = this.#options;
    const key = seen.id as DeploymentKey;
    const at = await situation(context, key);
    if (at.current?.revision !== seen.revision || underWay(at) !== undefined) return false;
    const record = observedIn(at.current.record, reports);
    const saga = repairSaga(record, away, context.policy, ASKED);
    try {
      if (saga === undefined) await context.deployments.deployments.update(at.current, record);
      else await launch(context, at, saga, [context.deployments.stagePut(key, at.current, record)]);
    } catch (thrown) {
      if (conflictOf(thrown) !== undefined || isFault(thrown, "conflict")) return false;
      throw thrown;
    }
    if (saga === undefined) return false;
    const clusters = saga.steps.map(({ target }) => target);
    logger.info("a deployment is being repaired", { deployment: key, clusters });
    return true;
  }

  async #removeSurplus(
    units: readonly { readonly cluster: ClusterName; readonly report: UnitReport }[],
    signal: AbortSignal,
  ): Promise<UnitId[]> {
    const { context, gateway, logger } = this.#options;
    const suspects = new Set<string>();
    const removed: UnitId[] = [];
    for (const { cluster, report } of units) {
      const { unitId, deploymentKey } = report;
      const seen = deploymentKey === undefined ? undefined : context.view.get(deploymentKey)?.record;
      if (seen?.placements[cluster]?.unitId === unitId) continue;
      // Read after the cluster was: what is unknown now was made by nobody who is still at it.
      const record =
        deploymentKey === undefined
          ? undefined
          : (await context.deployments.get(deploymentKey as DeploymentKey))?.record;
      if (record?.placements[cluster]?.unitId === unitId) continue;
      const name = `${cluster}/${unitId}`;
      if (!this.#suspects.has(name)) suspects.add(name);
      else {
        await gateway.remove(cluster, unitId, { signal }).catch((thrown: unknown) => {
          suspects.add(name);
          logger.warn("a surplus unit could not be removed", { cluster, unitId, error: Fault.from(thrown) });
        });
        if (!suspects.has(name)) removed.push(unitId);
        logger.info("a unit of ours that no deployment knows was removed", { cluster, unitId });
      }
    }
    this.#suspects = suspects;
    return removed;
  }

  async #run(): Promise<void> {
    const { context, ambient, logger, leaseMs = 15_000, intervalMs = 60_000 } = this.#options;
    const { signal } = this.#stop;
    let ownership: Ownership | undefined;
    while (!signal.aborted) {
      try {
        if (ownership === undefined || ownership.lease.lost.aborted) {
          const acquired = await acquire(context.store, { key: KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          ownership = acquired.owned ? acquired.ownership : undefined;
        }
        if (ownership !== undefined) await this.sweep(AbortSignal.any([signal, ownership.lease.lost]));
      } catch (thrown) {
        if (!signal.aborted) logger.warn("a look at the clusters was cut short", { error: Fault.from(thrown) });
      }
      await this.#rest(ownership === undefined ? leaseMs : intervalMs);
    }
    await ownership?.release().catch(() => undefined);
  }

  async #rest(delayMs: number): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    if (!this.#nudged) await sleep(timers, delayMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    this.#wake = undefined;
    if (this.#nudged) await sleep(timers, CALM_MS, signal).catch(() => undefined);
    this.#nudged = false;
  }
}
