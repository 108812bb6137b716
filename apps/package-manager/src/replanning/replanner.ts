import { Fault, isFault, sleep, type Ambient } from "@oaas/foundation";
import { ReplanMode, type ClassDeployment, type ClusterName, type DeploymentKey } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import { acquire, conflictOf, type CollectionView, type KeyValueStore, type Ownership } from "@oaas/storage";
import type { CandidateCluster } from "../planner/plan-types.ts";
import type { ClusterDirectory } from "../ports.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { BACKGROUND, subjectOf, type DeploymentSagaData } from "../records/deployment-saga.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { ClusterOutages, type ClusterOutagesOptions } from "./cluster-outages.ts";
import { reviewDeployment, type Reviewed, type ReviewDeps, type ReviewedClusters } from "./review-deployment.ts";
import { fingerprintOf, ReviewCache } from "./review-cache.ts";
import type { ReplanMetrics } from "./replan-metrics.ts";

export interface ReplannerOptions extends ReviewDeps {
  readonly store: KeyValueStore;
  readonly view: Pick<CollectionView<DeploymentRecord>, "all">;
  readonly engine: Pick<SagaEngine, "get" | "peek">;
  readonly clusters: Pick<ClusterDirectory, "list" | "readings">;
  readonly checkHealth: ClusterOutagesOptions["checkHealth"];
  /** Replicas per function that a cluster recommends. */
  readonly recommended: (deployment: ClassDeployment, cluster: ClusterName) => CandidateCluster["recommendedReplicas"];
  readonly metrics: ReplanMetrics;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** The time between two rounds, in addition to those after a change. */
  readonly intervalMs: number;
  readonly leaseMs?: number;
}

/** The lease of the re-planner. */
const LEASE_KEY = "o/replanner";
/** Changes of clusters are collected for this time. */
const DEBOUNCE_MS = 200;

/**
 * Plans running deployments again when a cluster is lost, or when clusters or measurements change.
 *
 * ```
 *   health of clusters ─▶ outages (durable) ─▶ round: each deployment whose inputs changed
 *                                                └─▶ review: plan, decide, then store or apply in one transaction
 * ```
 *
 * *Guarantees*
 * - One re-planner is active per store; its writes are fenced by its lease.
 * - Deployments in lost clusters are reviewed first.
 * - Nothing is planned or written while nothing changes.
 */
export class Replanner {
  readonly #options: ReplannerOptions;
  readonly #outages: ClusterOutages;
  readonly #cache = new ReviewCache();
  readonly #stop = new AbortController();
  #ownership: Ownership | undefined;
  #isDirty = true;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ReplannerOptions) {
    this.#options = options;
    this.#outages = new ClusterOutages({ ...options, clock: options.ambient.clock });
    this.#outages.onConfirmed = () => this.notify();
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** The health of a cluster changed, or an operation ended: a round follows at once. */
  notify(): void {
    this.#isDirty = true;
    this.#wake?.();
  }

  /** Reviews every deployment whose inputs changed. */
  async round(): Promise<void> {
    const { view, clusters, ambient, metrics } = this.#options;
    const fence = this.#ownership?.fence;
    await this.#outages.update(fence);
    const readings = await clusters.readings({ needed: [] });
    const world = fingerprintOf(readings, clusters.list());
    const lost = this.#outages.current;
    metrics.lostClusters.set(lost.size);
    const records = [...view.all()];
    const isAffected = ({ record }: { readonly record: DeploymentRecord }): boolean =>
      placementEntries(record).some(([cluster]) => lost.has(cluster));
    const affectedFirst = [...records.filter(isAffected), ...records.filter((each) => !isAffected(each))];
    this.#cache.retain(new Set(records.map(({ id }) => id)));
    const drains = new Map(
      clusters.list().flatMap(({ name, cordon }) => (cordon?.drain ? [[name, cordon.drain]] : [])),
    );
    const reviewed = { outages: lost, suspected: this.#outages.suspected, drains };
    let isDrainBusy = records.some(({ id }) => this.#isDraining(id as DeploymentKey));
    for (const { id, record } of affectedFirst) {
      if (this.#stop.signal.aborted || this.#ownership?.lease.lost.aborted === true) return;
      const key = id as DeploymentKey;
      const inputs = this.#inputsOf(record, world, reviewed);
      if (!this.#cache.isDue(key, inputs, ambient.clock.now())) continue;
      const result = await this.#review(key, inputs, { ...reviewed, isDrainBusy });
      isDrainBusy ||= result?.isDrain === true;
    }
  }

  async #review(key: DeploymentKey, inputs: string, reviewed: ReviewedClusters): Promise<Reviewed | undefined> {
    const { logger, metrics } = this.#options;
    try {
      const result = await reviewDeployment(this.#options, key, reviewed, this.#ownership?.fence);
      if (result.result === "proposed" || result.result === "applied" || result.result === "blocked") {
        metrics.reviews.add(1, { result: result.result });
      }
      // The end of the operation wakes the loop.
      if (result.result !== "busy") this.#cache.put(key, inputs, result);
      return result;
    } catch (thrown) {
      // Another writer changed the deployment: the next round reads it again.
      if (conflictOf(thrown) !== undefined || isFault(thrown, "conflict")) {
        this.#isDirty = true;
        return undefined;
      }
      const error = Fault.from(thrown);
      if (error.retryable) throw error;
      logger.error("review deployment failed", { [LOG_FIELDS.deploymentId]: key, error });
      return undefined;
    }
  }

  #isDraining(key: DeploymentKey): boolean {
    const saga = this.#options.engine.peek(subjectOf(key));
    return saga !== undefined && isOpen(saga) && (saga.data as DeploymentSagaData).by === BACKGROUND.drainer;
  }

  /** Everything that the result of a review depends on. */
  #inputsOf(
    record: DeploymentRecord,
    world: string,
    { outages, suspected, drains }: Omit<ReviewedClusters, "isDrainBusy">,
  ): string {
    const { deployment, desired, deletion } = record;
    const isOff = deployment.replan === ReplanMode.off && drains.size === 0;
    if (desired === undefined || deletion !== undefined || isOff) return "idle";
    const wanted = placementEntries(record).map(([cluster, { state }]) => [
      cluster,
      state,
      suspected.has(cluster),
      outages.get(cluster)?.since,
      this.#options.recommended(deployment, cluster),
    ]);
    const freezes = this.#options.freezes.active(placementEntries(record).map(([cluster]) => cluster));
    return JSON.stringify([desired.revision, wanted, world, this.#options.pauses.of(deployment.key), freezes]);
  }

  async #run(): Promise<void> {
    const { store, ambient, logger, metrics, leaseMs = 15_000 } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let delayMs = leaseMs;
      try {
        if (this.#ownership === undefined || this.#ownership.lease.lost.aborted) {
          const acquired = await acquire(store, { key: LEASE_KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          this.#ownership = acquired.owned ? acquired.ownership : undefined;
          this.#cache.clear();
          this.#outages.reset();
        }
        metrics.active.set(this.#ownership === undefined ? 0 : 1);
        if (this.#ownership !== undefined) {
          this.#isDirty = false;
          await this.round();
          delayMs = this.#nextDelay();
        }
      } catch (thrown) {
        if (signal.aborted) break;
        this.#isDirty = false;
        logger.warn("re-plan deployments failed", { error: Fault.from(thrown) });
      }
      await this.#sleep(delayMs);
    }
    await this.#ownership?.release().catch(() => undefined);
  }

  #nextDelay(): number {
    const { ambient, intervalMs } = this.#options;
    return Math.max(0, Math.min(intervalMs, this.#cache.nextAtMs - ambient.clock.now()));
  }

  /** Sleeps for the delay, or until something changes, then for the debounce time. */
  async #sleep(delayMs: number): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const waitMs = this.#isDirty && this.#ownership !== undefined ? 0 : delayMs;
    await sleep(timers, waitMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    this.#wake = undefined;
    await sleep(timers, DEBOUNCE_MS, signal).catch(() => undefined);
  }
}
