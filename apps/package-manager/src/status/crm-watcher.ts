import { backoffDelay, Fault, isFault, sleep, unavailable, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { BACKOFF } from "../backoff-policies.ts";
import type { CrmGateway } from "../ports.ts";
import type { RuntimeView } from "./runtime-view.ts";

export interface CrmWatcherOptions {
  readonly clusters: {
    list(): readonly { readonly name: ClusterName }[];
    onChange(listener: (name: ClusterName) => void): () => void;
  };
  readonly gateway: Pick<CrmGateway, "watch" | "runtimes">;
  readonly view: RuntimeView;
  readonly ambient: Ambient;
  readonly logger?: Logger;
  /** How often a cluster without watch support is listed. */
  readonly pollMs: number;
  /** A stream without events for this long is reopened; managers send a heartbeat every 15 s. Default 45 s. */
  readonly silenceMs?: number;
  /** The watch of a cluster failed. */
  readonly onLost?: (cluster: ClusterName) => void;
}

/** A polled cluster is tried with watch again after this many polls, because it may have been upgraded. */
const POLLS_BEFORE_WATCH = 20;

/**
 * Follows the class runtimes of every cluster: by watch where it is supported, by polling elsewhere.
 *
 * *Guarantees*: clusters do not delay each other; a stream that ends, fails or falls silent is reopened after 0.5, 1, 2 …
 * up to 30 seconds, or at once when the cluster recovers; until then its units are not reported as live.
 */
export class CrmWatcher {
  readonly #options: CrmWatcherOptions;
  readonly #logger: Logger;
  readonly #following = new Map<ClusterName, { readonly stop: AbortController; readonly done: Promise<void> }>();
  /** Aborts the wait before the next attempt. */
  readonly #waits = new Map<ClusterName, AbortController>();
  #unsubscribe: (() => void) | undefined;

  constructor(options: CrmWatcherOptions) {
    this.#options = options;
    this.#logger = options.logger ?? NOOP_LOGGER;
  }

  start(): void {
    const { clusters } = this.#options;
    this.#unsubscribe = clusters.onChange((name) => this.#restart(name));
    for (const { name } of clusters.list()) this.#begin(name);
  }

  /** Reconnects to a recovered cluster without waiting for the backoff. */
  reconnectNow(cluster: ClusterName): void {
    this.#waits.get(cluster)?.abort();
  }

  /** Stops following. Idempotent. */
  async close(): Promise<void> {
    this.#unsubscribe?.();
    const all = [...this.#following.values()];
    this.#following.clear();
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ done }) => done));
  }

  /** Handles a registration that was added, changed or removed. */
  #restart(name: ClusterName): void {
    const { clusters, view } = this.#options;
    this.#following.get(name)?.stop.abort();
    this.#following.delete(name);
    if (clusters.list().some((cluster) => cluster.name === name)) this.#begin(name);
    else view.forget(name);
  }

  #begin(name: ClusterName): void {
    const stop = new AbortController();
    this.#following.set(name, { stop, done: this.#follow(name, stop.signal) });
  }

  async #follow(cluster: ClusterName, signal: AbortSignal): Promise<void> {
    const { view, ambient } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#watch(cluster, signal, () => (failures = 0));
        if (!signal.aborted) throw unavailable(cluster, `cluster "${cluster}" closed the watch stream`);
      } catch (thrown) {
        if (signal.aborted) return;
        if (isFault(thrown, "unimplemented")) {
          await this.#poll(cluster, signal);
          continue;
        }
        const fault = Fault.from(thrown);
        if (failures === 0) this.#logger.warn("watch class runtimes failed", { cluster, fault });
        view.markLost(cluster, fault.message);
        if (failures === 0) this.#options.onLost?.(cluster);
        await this.#wait(cluster, backoffDelay(BACKOFF.watchReconnect, failures, ambient.random), signal);
        failures += 1;
      }
    }
  }

  /** Reads the stream to its end; throws when it fails or falls silent. */
  async #watch(cluster: ClusterName, signal: AbortSignal, onSynced: () => void): Promise<void> {
    const { gateway, view, ambient, silenceMs = 45_000 } = this.#options;
    const silence = new AbortController();
    const abortSilent = (): void => silence.abort(unavailable(cluster, `no watch event for ${silenceMs / 1000} s`));
    let timer = ambient.timers.after(silenceMs, abortSilent);
    try {
      for await (const change of gateway.watch(cluster, { signal: AbortSignal.any([signal, silence.signal]) })) {
        if (signal.aborted) return;
        timer.cancel();
        timer = ambient.timers.after(silenceMs, abortSilent);
        view.apply(cluster, change, "live");
        if (change.type === "synced") onSynced();
      }
    } finally {
      timer.cancel();
    }
  }

  /** Polls the cluster until it is time to try watch again. */
  async #poll(cluster: ClusterName, signal: AbortSignal): Promise<void> {
    const { gateway, view, ambient, pollMs } = this.#options;
    for (let poll = 0; poll < POLLS_BEFORE_WATCH && !signal.aborted; poll += 1) {
      try {
        view.apply(cluster, { type: "syncing" }, "polled");
        for await (const report of gateway.runtimes(cluster, {}, { signal })) {
          view.apply(cluster, { type: "changed", report }, "polled");
        }
        view.apply(cluster, { type: "synced" }, "polled");
      } catch (thrown) {
        if (signal.aborted) return;
        view.markLost(cluster, Fault.from(thrown).message);
      }
      await this.#wait(cluster, pollMs * (0.9 + 0.2 * ambient.random.next()), signal);
    }
  }

  async #wait(cluster: ClusterName, ms: number, signal: AbortSignal): Promise<void> {
    const wait = new AbortController();
    this.#waits.set(cluster, wait);
    await sleep(this.#options.ambient.timers, ms, AbortSignal.any([signal, wait.signal])).catch(() => undefined);
    if (this.#waits.get(cluster) === wait) this.#waits.delete(cluster);
  }
}
