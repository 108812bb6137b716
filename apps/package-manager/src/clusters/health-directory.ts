import {
  backoffDelay,
  Fault,
  orAbort,
  startDeadline,
  type Ambient,
  type BackoffPolicy,
  type Timer,
} from "@oaas/foundation";
import { ClusterStatus, type ClusterHealth, type ClusterName } from "@oaas/models";
import type { CallOptions, ClusterDirectory, ClusterEntry, HealthReading } from "../ports.ts";
import type { ClusterRoster } from "./cluster-roster.ts";

/** What the directory asks clusters with. */
export interface HealthSource {
  health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth>;
  breaker(cluster: ClusterName): HealthReading["breaker"];
}

export interface HealthDirectoryOptions {
  readonly roster: Pick<ClusterRoster, "entries" | "entry" | "onChange">;
  readonly source: HealthSource;
  readonly ambient: Ambient;
  /** How long a reading is used before the cluster is asked again; 0 asks every time. */
  readonly ttlMs: number;
  /** How often every cluster is asked in the background. */
  readonly intervalMs: number;
}

/** What is kept of a cluster. Times are monotonic. */
interface Kept {
  reading: HealthReading | undefined;
  askedAtMs: number;
  failures: number;
  /** Something waits for it to answer. */
  isAwaited: boolean;
  asking: Promise<HealthReading> | undefined;
  timer: Timer | undefined;
}

/** A failing cluster is asked sooner than the others, at first. */
const FAILING: BackoffPolicy = { baseMs: 1_000, capMs: Number.MAX_SAFE_INTEGER, factor: 2, jitter: 0.2 };
/** A reader of a failing cluster sets off a new question this often at most. */
const FAILING_TTL_MS = 1_000;
/** A failing cluster for which something waits is asked this often at least. */
const AWAITED_MS = 5_000;

/** How long a reader waits for a new reading where there is an old one, and where there is none. */
const OLD_READING_MS = 500;
const NO_READING_MS = 2_000;

/**
 * The clusters with their health, asked in the background and kept for a while.
 *
 * *Guarantees*: however many read at once, a cluster is asked once; a cluster that failed when last asked is never waited for: its reading is
 * handed out as it is, and asked for anew behind the reader's back; one that is slow to answer is waited for half a second, then its old reading is
 * handed out with its age; one that never answered so far is waited for two; a failing cluster is asked again after 1, 2, 4 … seconds, up to
 * the interval, or up to five seconds when something waits for it.
 */
export class HealthDirectory implements ClusterDirectory {
  readonly #options: HealthDirectoryOptions;
  readonly #kept = new Map<ClusterName, Kept>();
  readonly #listeners = new Set<(reading: HealthReading, before: HealthReading | undefined) => void>();
  readonly #stop = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(options: HealthDirectoryOptions) {
    this.#options = options;
  }

  /** Begins to ask in the background. */
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
    if (this.get(name) === undefined) return unread(name, "closed", `cluster "${name}" was not found`);
    const kept = this.#of(name);
    const { reading } = kept;
    const ageMs = this.#options.ambient.clock.monotonic() - kept.askedAtMs;
    if (reading?.error !== undefined) {
      if (ageMs >= Math.min(FAILING_TTL_MS, this.#options.ttlMs)) void this.#ask(name, kept);
      return this.#now(reading);
    }
    if (reading !== undefined && ageMs < this.#options.ttlMs) return this.#now(reading);
    const { ambient } = this.#options;
    using patience = startDeadline(ambient, reading === undefined ? NO_READING_MS : OLD_READING_MS, options.signal);
    try {
      return await orAbort(this.#ask(name, kept), patience.signal);
    } catch (thrown) {
      // It was waited for once; whoever comes next is not to wait for it again.
      if (options.signal?.aborted !== true) kept.reading ??= unread(name, "closed", "it has not answered yet");
      return this.#now(kept.reading ?? unread(name, "closed", Fault.from(thrown).message));
    }
  }

  /** Asks now, as something waits for the cluster, and often until it answers. Never rejects. */
  async check(name: ClusterName): Promise<HealthReading> {
    if (this.get(name) === undefined) return this.reading(name);
    const kept = this.#of(name);
    kept.isAwaited = true;
    return this.#ask(name, kept);
  }

  /** A sign of life: a cluster that is thought to be away is asked before its time. */
  recheckFailing(name: ClusterName): void {
    const kept = this.#kept.get(name);
    if (kept?.reading?.error !== undefined) void this.#ask(name, kept);
  }

  async readings({ needed, ...options }: Parameters<ClusterDirectory["readings"]>[0] = {}): Promise<
    readonly HealthReading[]
  > {
    return Promise.all(
      this.list().map(({ name }) =>
        needed === undefined || needed.includes(name) ? this.reading(name, options) : this.#lastHeard(name),
      ),
    );
  }

  /** Told when a cluster's state, numbers or breaker are others than before. The answer ends that. */
  onReading(listener: (reading: HealthReading, before: HealthReading | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops asking. Repeatable. */
  close(): void {
    this.#unsubscribe?.();
    this.#stop.abort();
    for (const { timer } of this.#kept.values()) timer?.cancel();
    this.#kept.clear();
  }

  #follow(name: ClusterName): void {
    const before = this.#kept.get(name);
    before?.timer?.cancel();
    this.#kept.delete(name);
    if (this.get(name) !== undefined) void this.#ask(name, this.#of(name));
  }

  #of(name: ClusterName): Kept {
    const kept = this.#kept.get(name) ?? {
      reading: undefined,
      askedAtMs: 0,
      failures: 0,
      isAwaited: false,
      asking: undefined,
      timer: undefined,
    };
    this.#kept.set(name, kept);
    return kept;
  }

  /** Without waiting; asked for anew behind the reader's back when it is old. */
  async #lastHeard(name: ClusterName): Promise<HealthReading> {
    const kept = this.#of(name);
    const isOld = this.#options.ambient.clock.monotonic() - kept.askedAtMs >= this.#options.ttlMs;
    if (kept.reading === undefined || isOld) void this.#ask(name, kept);
    return this.#now(kept.reading ?? unread(name, "closed", "it has not answered yet"));
  }

  /** The breaker may have moved since. */
  #now(reading: HealthReading): HealthReading {
    return { ...reading, breaker: this.#options.source.breaker(reading.cluster) };
  }

  #ask(name: ClusterName, kept: Kept): Promise<HealthReading> {
    kept.asking ??= this.#read(name, kept.reading)
      .then((reading) => this.#take(name, kept, reading))
      .finally(() => {
        kept.asking = undefined;
        this.#schedule(name, kept);
      });
    return kept.asking;
  }

  async #read(name: ClusterName, before: HealthReading | undefined): Promise<HealthReading> {
    const { source, ambient } = this.#options;
    try {
      const health = await source.health(name, { signal: this.#stop.signal });
      return { cluster: name, health, takenAtMs: ambient.clock.now(), breaker: source.breaker(name) };
    } catch (thrown) {
      const error = Fault.from(thrown).message;
      const breaker = source.breaker(name);
      if (before?.takenAtMs === undefined) return unread(name, breaker, error);
      return { ...before, health: { ...before.health, status: ClusterStatus.unhealthy }, breaker, error };
    }
  }

  #take(name: ClusterName, kept: Kept, reading: HealthReading): HealthReading {
    const before = kept.reading;
    kept.reading = reading;
    kept.askedAtMs = this.#options.ambient.clock.monotonic();
    kept.failures = reading.error === undefined ? 0 : kept.failures + 1;
    kept.isAwaited &&= reading.error !== undefined;
    const isCurrent = this.#kept.get(name) === kept && !this.#stop.signal.aborted;
    if (isCurrent && factsOf(before) !== factsOf(reading)) {
      for (const listener of this.#listeners) listener(reading, before);
    }
    return reading;
  }

  #schedule(name: ClusterName, kept: Kept): void {
    if (this.#stop.signal.aborted || this.#unsubscribe === undefined || this.#kept.get(name) !== kept) return;
    const { ambient, intervalMs } = this.#options;
    const soon = kept.failures === 0 ? intervalMs : backoffDelay(FAILING, kept.failures - 1, ambient.random);
    kept.timer?.cancel();
    // Spread, so that a hundred clusters are not asked in the same moment.
    const delayMs =
      Math.min(intervalMs, soon, kept.isAwaited ? AWAITED_MS : intervalMs) * (0.9 + 0.1 * ambient.random.next());
    kept.timer = ambient.timers.after(delayMs, () => void this.#ask(name, kept));
  }
}

function unread(cluster: ClusterName, breaker: HealthReading["breaker"], error: string): HealthReading {
  return { cluster, health: { cluster, status: ClusterStatus.unknown }, breaker, error };
}

/** What makes two readings different to those who follow. */
function factsOf(reading: HealthReading | undefined): string {
  if (reading === undefined) return "";
  const { lastSeen: _lastSeen, ...health } = reading.health;
  return JSON.stringify([health, reading.error === undefined, reading.breaker]);
}
