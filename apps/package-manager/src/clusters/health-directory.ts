import { backoffDelay, Fault, orAbort, startDeadline, type Ambient, type Timer } from "@oaas/foundation";
import type { ClusterHealth, ClusterName } from "@oaas/models";
import { BACKOFF } from "../backoff-policies.ts";
import type { CallOptions, ClusterDirectory, ClusterEntry, HealthReading } from "../ports.ts";
import { failedReading, isReachable } from "./cluster-health.ts";
import type { ClusterRoster } from "./cluster-roster.ts";

/** Queries the health of clusters. */
export interface HealthSource {
  health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth>;
  breaker(cluster: ClusterName): HealthReading["breaker"];
}

export interface HealthDirectoryOptions {
  readonly roster: Pick<ClusterRoster, "entries" | "entry" | "onChange">;
  readonly source: HealthSource;
  readonly ambient: Ambient;
  /** How long a reading is cached; 0 checks on every read. */
  readonly ttlMs: number;
  /** How often every cluster is checked in the background. */
  readonly intervalMs: number;
}

/** The cached health of one cluster. Times are monotonic. */
interface CacheEntry {
  reading: HealthReading | undefined;
  checkedAtMs: number;
  failures: number;
  /** Work is waiting for the cluster to respond. */
  hasWaiter: boolean;
  check: Promise<HealthReading> | undefined;
  timer: Timer | undefined;
}

/** Reads of a failing cluster start a new check at most this often. */
const FAILING_TTL_MS = 1_000;
/** A failing cluster with a waiter is checked at least this often. */
const WAITER_INTERVAL_MS = 5_000;

/** How long a read waits for a new reading if there is an old one, and if there is none. */
const STALE_READ_TIMEOUT_MS = 500;
const FIRST_READ_TIMEOUT_MS = 2_000;

const NOT_CHECKED = "the cluster has not responded yet";

/**
 * Checks the health of all clusters in the background and caches the readings.
 *
 * *Guarantees*: concurrent reads share one check. A read never waits for a cluster whose last check failed: it returns
 * the cached reading and starts a check. A read waits half a second for a slow cluster, then returns the old reading with
 * its age, and two seconds for a cluster without a reading. A failing cluster is checked again after 1, 2, 4 … seconds, up
 * to the interval, or up to five seconds if work is waiting for it.
 */
export class HealthDirectory implements ClusterDirectory {
  readonly #options: HealthDirectoryOptions;
  readonly #cache = new Map<ClusterName, CacheEntry>();
  readonly #listeners = new Set<(reading: HealthReading, before: HealthReading | undefined) => void>();
  readonly #stop = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(options: HealthDirectoryOptions) {
    this.#options = options;
  }

  /** Starts the background checks. */
  start(): void {
    const { roster } = this.#options;
    this.#unsubscribe = roster.onChange((name) => this.#follow(name));
    for (const { name } of roster.entries()) this.#follow(name);
  }

  list(): readonly ClusterEntry[] {
    return this.#options.roster.entries();
  }

  get(name: ClusterName): ClusterEntry | undefined {
    return this.#options.roster.entry(name);
  }

  async reading(name: ClusterName, options: CallOptions = {}): Promise<HealthReading> {
    if (this.get(name) === undefined)
      return failedReading(name, undefined, "closed", `cluster "${name}" was not found`);
    const entry = this.#entryOf(name);
    const { reading } = entry;
    const ageMs = this.#ageMs(entry);
    if (reading !== undefined && !isReachable(reading)) {
      if (ageMs >= Math.min(FAILING_TTL_MS, this.#options.ttlMs)) void this.#check(name, entry);
      return this.#withBreaker(reading);
    }
    if (reading !== undefined && ageMs < this.#options.ttlMs) return this.#withBreaker(reading);
    const { ambient } = this.#options;
    const timeoutMs = reading === undefined ? FIRST_READ_TIMEOUT_MS : STALE_READ_TIMEOUT_MS;
    using deadline = startDeadline(ambient, timeoutMs, options.signal);
    try {
      return await orAbort(this.#check(name, entry), deadline.signal);
    } catch (thrown) {
      // The next read does not wait for this cluster again.
      if (options.signal?.aborted !== true) entry.reading ??= failedReading(name, undefined, "closed", NOT_CHECKED);
      return this.#withBreaker(entry.reading ?? failedReading(name, undefined, "closed", Fault.from(thrown).message));
    }
  }

  /** Checks a cluster that work is waiting for, now, and frequently until it responds. Never rejects. */
  async check(name: ClusterName): Promise<HealthReading> {
    if (this.get(name) === undefined) return this.reading(name);
    const entry = this.#entryOf(name);
    entry.hasWaiter = true;
    return this.#check(name, entry);
  }

  /** Checks a failing cluster early, after another sign that it is up. */
  recheckFailing(name: ClusterName): void {
    const entry = this.#cache.get(name);
    if (entry?.reading !== undefined && !isReachable(entry.reading)) void this.#check(name, entry);
  }

  async readings({ needed, ...options }: Parameters<ClusterDirectory["readings"]>[0] = {}): Promise<
    readonly HealthReading[]
  > {
    return Promise.all(
      this.list().map(({ name }) =>
        needed === undefined || needed.includes(name) ? this.reading(name, options) : this.#cachedReading(name),
      ),
    );
  }

  /** Calls the listener when the health or the breaker of a cluster changes. Returns the function that unsubscribes it. */
  onReading(listener: (reading: HealthReading, before: HealthReading | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops the checks. Idempotent. */
  close(): void {
    this.#unsubscribe?.();
    this.#stop.abort();
    for (const { timer } of this.#cache.values()) timer?.cancel();
    this.#cache.clear();
  }

  #follow(name: ClusterName): void {
    this.#cache.get(name)?.timer?.cancel();
    this.#cache.delete(name);
    if (this.get(name) !== undefined) void this.#check(name, this.#entryOf(name));
  }

  #entryOf(name: ClusterName): CacheEntry {
    const entry = this.#cache.get(name) ?? {
      reading: undefined,
      checkedAtMs: 0,
      failures: 0,
      hasWaiter: false,
      check: undefined,
      timer: undefined,
    };
    this.#cache.set(name, entry);
    return entry;
  }

  #ageMs({ checkedAtMs }: CacheEntry): number {
    return this.#options.ambient.clock.monotonic() - checkedAtMs;
  }

  /** Returns without waiting; starts a check if the reading is outdated. */
  async #cachedReading(name: ClusterName): Promise<HealthReading> {
    const entry = this.#entryOf(name);
    if (entry.reading === undefined || this.#ageMs(entry) >= this.#options.ttlMs) void this.#check(name, entry);
    return this.#withBreaker(entry.reading ?? failedReading(name, undefined, "closed", NOT_CHECKED));
  }

  /** The breaker may have changed since the reading. */
  #withBreaker(reading: HealthReading): HealthReading {
    return { ...reading, breaker: this.#options.source.breaker(reading.cluster) };
  }

  #check(name: ClusterName, entry: CacheEntry): Promise<HealthReading> {
    entry.check ??= this.#query(name, entry.reading)
      .then((reading) => this.#store(name, entry, reading))
      .finally(() => {
        entry.check = undefined;
        this.#schedule(name, entry);
      });
    return entry.check;
  }

  async #query(name: ClusterName, before: HealthReading | undefined): Promise<HealthReading> {
    const { source, ambient } = this.#options;
    try {
      const health = await source.health(name, { signal: this.#stop.signal });
      return { cluster: name, health, takenAtMs: ambient.clock.now(), breaker: source.breaker(name) };
    } catch (thrown) {
      return failedReading(name, before, source.breaker(name), Fault.from(thrown).message);
    }
  }

  #store(name: ClusterName, entry: CacheEntry, reading: HealthReading): HealthReading {
    const before = entry.reading;
    entry.reading = reading;
    entry.checkedAtMs = this.#options.ambient.clock.monotonic();
    entry.failures = isReachable(reading) ? 0 : entry.failures + 1;
    entry.hasWaiter &&= !isReachable(reading);
    const isCurrent = this.#cache.get(name) === entry && !this.#stop.signal.aborted;
    if (isCurrent && comparableFacts(before) !== comparableFacts(reading)) {
      for (const listener of this.#listeners) listener(reading, before);
    }
    return reading;
  }

  #schedule(name: ClusterName, entry: CacheEntry): void {
    if (this.#stop.signal.aborted || this.#unsubscribe === undefined || this.#cache.get(name) !== entry) return;
    const { ambient, intervalMs } = this.#options;
    const retryMs =
      entry.failures === 0 ? intervalMs : backoffDelay(BACKOFF.failingHealthCheck, entry.failures - 1, ambient.random);
    entry.timer?.cancel();
    // Jitter, so that many clusters are not checked at the same moment.
    const delayMs =
      Math.min(intervalMs, retryMs, entry.hasWaiter ? WAITER_INTERVAL_MS : intervalMs) *
      (0.9 + 0.1 * ambient.random.next());
    entry.timer = ambient.timers.after(delayMs, () => void this.#check(name, entry));
  }
}

/** The facts of a reading that listeners are notified about. */
function comparableFacts(reading: HealthReading | undefined): string {
  if (reading === undefined) return "";
  // The evidence of a measurement grows with every check.
  const { lastSeen: _lastSeen, measurement: _measurement, ...health } = reading.health;
  return JSON.stringify([health, isReachable(reading), reading.breaker]);
}
