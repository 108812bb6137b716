import { Fault, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import {
  measureHistory,
  recordObservation,
  type AvailabilityHistory,
  type AvailabilityMeasurement,
  type Observation,
} from "./availability-history.ts";

/** A stored history with the version that a write must match. */
export interface StoredHistory {
  readonly history: AvailabilityHistory;
  /** Absent if nothing is stored. */
  readonly version?: string | undefined;
}

/** Stores the history outside of the process. */
export interface HistoryStore {
  load(signal: AbortSignal): Promise<StoredHistory>;
  /** Fails with a conflict if the stored version is another one. */
  save(history: AvailabilityHistory, version: string | undefined, signal: AbortSignal): Promise<void>;
}

export interface AvailabilityRecorderOptions {
  readonly ambient: Ambient;
  readonly store: HistoryStore;
  /** Whether the Kubernetes API is ready. */
  readonly isApiUp: (signal: AbortSignal) => Promise<boolean>;
  /** Undefined if the nodes are not known. */
  readonly nodes: () => { readonly ready: number; readonly all: number } | undefined;
  /** Whether this process may write. */
  readonly isLeading: () => boolean;
  readonly logger?: Logger;
}

/** How often the state is sampled. */
export const SAMPLE_MS = 30_000;
/** How often the history is stored, and how often at most when the state changes. */
export const SAVE_MS = 600_000;
const SAVE_CHANGE_MS = 60_000;
/** A longer pause between two samples counts as not observed. */
const MAX_SAMPLE_GAP_MS = 3 * SAMPLE_MS;
const STORE_TIMEOUT_MS = 10_000;
/** Equal states in a row are one observation, so that this is reached only by a cluster that never rests. */
const MAX_PENDING = 500;

/**
 * Samples the state of the cluster in every replica, and stores it in the leader.
 *
 * Why every replica samples: while the API is down there is no leader. The time up to which the history is stored decides
 * which samples of a process are new, so that no time counts twice.
 */
export class AvailabilityRecorder {
  readonly #options: AvailabilityRecorderOptions;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** Undefined until it is loaded: without it, a restart would look like a cluster without evidence. */
  #stored: AvailabilityHistory | undefined;
  #pending: Observation[] = [];
  #sampledAtMs: number | undefined;
  #syncedAtMs: number | undefined;
  /** The state changed, or the last attempt to store failed. */
  #hasChanged = false;

  constructor(options: AvailabilityRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? NOOP_LOGGER;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The availability up to now; undefined before the history is loaded and before the first observation. */
  measure(): AvailabilityMeasurement | undefined {
    if (this.#stored === undefined) return undefined;
    const history = this.#pending.reduce(recordObservation, this.#stored);
    return measureHistory(history, this.#options.ambient.clock.now());
  }

  /** Stops sampling and stores the rest. Idempotent. */
  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    await this.#running;
    const [first] = this.#pending;
    const isWorthIt = first !== undefined && this.#options.ambient.clock.now() - first.fromMs >= SAVE_CHANGE_MS;
    if (isWorthIt && this.#options.isLeading()) await this.#sync();
  }

  async #run(): Promise<void> {
    const { ambient } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#sample(signal);
      if (this.#isSyncDue()) await this.#sync(signal);
      await sleep(ambient.timers, SAMPLE_MS, signal).catch(() => undefined);
    }
  }

  #isSyncDue(): boolean {
    if (this.#syncedAtMs === undefined) return true;
    const passedMs = this.#options.ambient.clock.monotonic() - this.#syncedAtMs;
    return passedMs >= (this.#hasChanged ? SAVE_CHANGE_MS : SAVE_MS);
  }

  async #sample(signal: AbortSignal): Promise<void> {
    const { ambient, isApiUp, nodes } = this.#options;
    const up = await isApiUp(signal).catch(() => false);
    if (signal.aborted) return;
    const nowMs = ambient.clock.now();
    const beforeMs = this.#sampledAtMs;
    this.#sampledAtMs = nowMs;
    if (beforeMs === undefined || beforeMs >= nowMs || nowMs - beforeMs > MAX_SAMPLE_GAP_MS) return;
    const known = up ? nodes() : undefined;
    this.#add({
      fromMs: beforeMs,
      untilMs: nowMs,
      isApiUp: up,
      ...(known === undefined ? {} : { nodes: known }),
      samples: 1,
    });
  }

  #add(observed: Observation): void {
    const last = this.#pending.at(-1);
    if (last !== undefined && last.untilMs === observed.fromMs && isSameState(last, observed)) {
      const samples = last.samples + observed.samples;
      this.#pending.splice(-1, 1, { ...last, untilMs: observed.untilMs, samples });
      return;
    }
    this.#hasChanged ||= last !== undefined && !isSameState(last, observed);
    this.#pending.push(observed);
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
  }

  /** Reads the stored history, and as the leader adds the observations that are not in it. */
  async #sync(parent?: AbortSignal): Promise<void> {
    const { ambient, store, isLeading } = this.#options;
    using deadline = startDeadline(ambient, STORE_TIMEOUT_MS, parent);
    try {
      const { history, version } = await store.load(deadline.signal);
      const merged = this.#pending.reduce(recordObservation, history);
      if (isLeading() && merged !== history) {
        await store.save(merged, version, deadline.signal);
        this.#keep(merged);
      } else this.#keep(history);
      this.#hasChanged = false;
    } catch (thrown) {
      this.#hasChanged = true;
      if (parent?.aborted !== true) this.#logger.warn("store availability failed", { fault: Fault.from(thrown) });
    }
    this.#syncedAtMs = ambient.clock.monotonic();
  }

  #keep(history: AvailabilityHistory): void {
    this.#stored = history;
    this.#pending = this.#pending.filter(({ untilMs }) => untilMs > history.untilMs);
  }
}

function isSameState(a: Observation, b: Observation): boolean {
  return a.isApiUp === b.isApiUp && a.nodes?.ready === b.nodes?.ready && a.nodes?.all === b.nodes?.all;
}
