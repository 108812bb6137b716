import { backoffDelay, Fault, isFault, sleep, unavailable, type Ambient, type BackoffPolicy } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
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
  /** How often a cluster is listed that cannot be watched. */
  readonly pollMs: number;
  /** A stream that says nothing for so long is taken for dead; managers say that they live every 15 s. Default 45 s. */
  readonly silenceMs?: number;
}

const RECONNECT: BackoffPolicy = { baseMs: 500, capMs: 30_000, factor: 2, jitter: 0.5 };
/** A cluster that could only be polled is asked for its stream again after so many polls: it may have been upgraded. */
const POLLS_BETWEEN_TRIES = 20;

/**
 * Follows the class runtimes of every cluster: by its stream where it offers one, by lists where not.
 *
 * *Guarantees*: each cluster by itself, so that none delays another; a stream that ended, failed or fell silent is opened again after 0.5, 1, 2 …
 * up to 30 seconds, or at once when the cluster is known to be back, and until then the cluster's units are no longer called live.
 */
export class CrmWatcher {
  readonly #options: CrmWatcherOptions;
  readonly #logger: Logger;
  readonly #following = new Map<ClusterName, { readonly stop: AbortController; readonly done: Promise<void> }>();
  /** Ends the pause before a cluster is tried again. */
  readonly #pauses = new Map<ClusterName, AbortController>();
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

  /** The cluster answers again: it is not waited for any longer. */
  reconnectNow(cluster: ClusterName): void {
    this.#pauses.get(cluster)?.abort();
  }

  /** Stops following. Repeatable. */
  async close(): Promise<void> {
    this.#unsubscribe?.();
    const all = [...this.#following.values()];
    this.#following.clear();
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ done }) => done));
  }

  /** Registered anew, somewhere else, or gone. */
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
        await this.#stream(cluster, signal, () => (failures = 0));
        if (!signal.aborted) throw unavailable(cluster, `cluster "${cluster}" ended its stream`);
      } catch (thrown) {
        if (signal.aborted) return;
        if (isFault(thrown, "unimplemented")) {
          await this.#poll(cluster, signal);
          continue;
        }
        const fault = Fault.from(thrown);
        if (failures === 0) this.#logger.warn("a cluster is not followed any more", { cluster, fault });
        view.markLost(cluster, fault.message);
        await this.#pause(cluster, backoffDelay(RECONNECT, failures, ambient.random), signal);
        failures += 1;
      }
    }
  }

  /** Reads the stream to its end; throws when it fails or falls silent. */
  async #stream(cluster: ClusterName, signal: AbortSignal, onSynced: () => void): Promise<void> {
    const { gateway, view, ambient, silenceMs = 45_000 } = this.#options;
    const silence = new AbortController();
    const hush = (): void =>
      silence.abort(unavailable(cluster, `cluster "${cluster}" said nothing for ${silenceMs / 1000} s`));
    let timer = ambient.timers.after(silenceMs, hush);
    try {
      for await (const change of gateway.watch(cluster, { signal: AbortSignal.any([signal, silence.signal]) })) {
        if (signal.aborted) return;
        timer.cancel();
        timer = ambient.timers.after(silenceMs, hush);
        view.apply(cluster, change, "live");
        if (change.type === "synced") onSynced();
      }
    } finally {
      timer.cancel();
    }
  }

  /** Lists the cluster for a while. */
  async #poll(cluster: ClusterName, signal: AbortSignal): Promise<void> {
    const { gateway, view, ambient, pollMs } = this.#options;
    for (let poll = 0; poll < POLLS_BETWEEN_TRIES && !signal.aborted; poll += 1) {
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
      await this.#pause(cluster, pollMs * (0.9 + 0.2 * ambient.random.next()), signal);
    }
  }

  async #pause(cluster: ClusterName, ms: number, signal: AbortSignal): Promise<void> {
    const pause = new AbortController();
    this.#pauses.set(cluster, pause);
    await sleep(this.#options.ambient.timers, ms, AbortSignal.any([signal, pause.signal])).catch(() => undefined);
    if (this.#pauses.get(cluster) === pause) this.#pauses.delete(cluster);
  }
}
