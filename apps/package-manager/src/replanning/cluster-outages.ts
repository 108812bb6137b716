import { timestamp, type Clock } from "@oaas/foundation";
import { ClusterStatus, type ClusterName } from "@oaas/models";
import { combineTransactions, type Condition, type KeyValueStore } from "@oaas/storage";
import { isReachable } from "../clusters/cluster-health.ts";
import type { ClusterDirectory, HealthReading } from "../ports.ts";
import type { ClusterOutage } from "../records/replan-record.ts";
import type { ReplanStore } from "../stores/replan-store.ts";

export interface ClusterOutagesOptions {
  readonly store: Pick<KeyValueStore, "commit">;
  readonly replans: ReplanStore;
  readonly clusters: Pick<ClusterDirectory, "list" | "readings">;
  /** Checks a cluster now, and often until it answers; never rejects. */
  readonly checkHealth: (cluster: ClusterName) => Promise<HealthReading>;
  readonly clock: Clock;
}

/**
 * Since when each cluster is lost: it does not answer, or reports that it is unhealthy.
 *
 * *Guarantees*: the time is durable, so that a restart does not begin the wait again. An outage counts only after a health
 * check of this process has failed too.
 */
export class ClusterOutages {
  readonly #options: ClusterOutagesOptions;
  #stored: Map<ClusterName, ClusterOutage> | undefined;
  readonly #confirmed = new Set<ClusterName>();
  readonly #checking = new Set<ClusterName>();

  constructor(options: ClusterOutagesOptions) {
    this.#options = options;
  }

  /** Forgets what was read, because another process may have changed it. */
  reset(): void {
    this.#stored = undefined;
    this.#confirmed.clear();
  }

  /** Records the beginning and the end of outages; writes nothing when none began or ended. */
  async update(fence: Condition | undefined): Promise<void> {
    const { replans, clusters, clock, store } = this.#options;
    const stored = (this.#stored ??= new Map(await replans.outages()));
    const readings = await clusters.readings({ needed: [] });
    const names = new Set(readings.map(({ cluster }) => cluster));
    const began: [ClusterName, ClusterOutage][] = [];
    for (const reading of readings) {
      const { cluster } = reading;
      const problem = problemOf(reading);
      if (problem === undefined) this.#confirmed.delete(cluster);
      else if (!this.#confirmed.has(cluster)) this.#confirm(cluster);
      if (problem !== undefined && this.#confirmed.has(cluster) && !stored.has(cluster)) {
        began.push([cluster, { since: timestamp(clock.now()), problem }]);
      }
    }
    const lost = new Set(readings.filter((each) => problemOf(each) !== undefined).map(({ cluster }) => cluster));
    const ended = [...stored.keys()].filter((cluster) => !lost.has(cluster) || !names.has(cluster));
    if (began.length === 0 && ended.length === 0) return;
    try {
      await store.commit(
        combineTransactions(
          ...began.map(([cluster, outage]) => replans.stageOutage(cluster, outage)),
          ...ended.map((cluster) => replans.stageOutageEnd(cluster)),
          ...(fence === undefined ? [] : [{ conditions: [fence], writes: [] }]),
        ),
      );
    } catch (thrown) {
      this.#stored = undefined;
      throw thrown;
    }
    for (const [cluster, outage] of began) stored.set(cluster, outage);
    for (const cluster of ended) stored.delete(cluster);
  }

  /** The outages that a health check of this process has confirmed. */
  get current(): ReadonlyMap<ClusterName, ClusterOutage> {
    return new Map([...(this.#stored ?? [])].filter(([cluster]) => this.#confirmed.has(cluster)));
  }

  /** Clusters whose health check of this process has failed, or has not finished. */
  get suspected(): ReadonlySet<ClusterName> {
    return new Set([...this.#checking, ...this.#confirmed]);
  }

  onConfirmed: (() => void) | undefined;

  #confirm(cluster: ClusterName): void {
    if (this.#checking.has(cluster)) return;
    this.#checking.add(cluster);
    void this.#options.checkHealth(cluster).then((reading) => {
      this.#checking.delete(cluster);
      if (problemOf(reading) !== undefined) this.#confirmed.add(cluster);
      this.onConfirmed?.();
    });
  }
}

/** Why a cluster counts as lost; undefined when it does not. */
export function problemOf(reading: Pick<HealthReading, "error" | "health">): string | undefined {
  if (!isReachable(reading)) return reading.error ?? "it does not answer";
  return reading.health.status === ClusterStatus.unhealthy ? "its status is unhealthy" : undefined;
}
