import type { BackoffPolicy, Clock, Random, Timer, Timers } from "@oaas/foundation";
import { DueHeap } from "./due-heap.ts";
import { FairQueue } from "./fair-queue.ts";
import { FailureBackoff, TokenBucket } from "./rate-limiter.ts";

/** Priorities: a user's change goes before routine work, a resync after it. */
export const PRIORITY = { high: 10, normal: 0, low: -10 } as const;

/** A key taken by a worker; pass it to `done`. */
export interface QueueItem<K> {
  readonly key: K;
  readonly priority: number;
  /** Waiting time. */
  readonly waitedMs: number;
}

/** Callbacks for metrics; all optional. */
export interface QueueObserver {
  added?(): void;
  taken?(waitedMs: number): void;
  finished?(workedMs: number): void;
  retried?(): void;
  overflowed?(): void;
}

/** Order, delays and limits of a queue. */
export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Groups take turns; by default there is one group. */
  readonly groupOf?: (key: K) => string;
  /**
   * Maximum waiting keys; further ones are rejected, and `onRoom` is called when the queue is half empty. Default
   * 100,000.
   */
  readonly limit?: number;
  /**
   * Called after an overflow when there is room again: add all keys again, the queue does not know which were rejected.
   */
  readonly onRoom?: () => void;
  /** Backoff per key. Default 5 ms doubling to 5 min. */
  readonly backoff?: BackoffPolicy;
  /** Rate limit over the retries of all keys. Default 10 per second with a burst of 100. */
  readonly overallRate?: { readonly perSecond: number; readonly burst: number };
  readonly observer?: QueueObserver;
}

const RETRY_BACKOFF: BackoffPolicy = { baseMs: 5, capMs: 300_000, factor: 2, jitter: 0.2 };

interface Work {
  readonly startedAt: number;
  /** Set when the key was added while being processed. */
  again: number | undefined;
}

/**
 * Keys that need work.
 *
 * *Flow*: `add` → wait → `take` by one worker → `done`. `retry` adds with a delay that grows with the key's failures;
 * `forget` resets it.
 *
 * *Guarantees*: a key is with at most one worker; a key added while being processed is taken again afterwards; a key
 * added several times before it is taken is taken once; an immediate add cancels the key's pending delay, because the
 * next worker decides when to check again; memory is bounded by `limit`.
 *
 * *Assumptions*: keys are compared as in a Map, so use strings.
 *
 * *Caveats*: beyond `limit` waiting keys, further ones are rejected and forgotten; `onRoom` is the caller's chance to
 * add them again.
 */
export class WorkQueue<K> {
  readonly #options: WorkQueueOptions<K>;
  readonly #limit: number;
  readonly #waiting: FairQueue<K>;
  readonly #addedAt = new Map<K, number>();
  readonly #working = new Map<K, Work>();
  readonly #delayed = new DueHeap<K>();
  readonly #delayedPriority = new Map<K, number>();
  readonly #failures: FailureBackoff<K>;
  readonly #bucket: TokenBucket;
  #waiters: ((taken: QueueItem<K> | undefined) => void)[] = [];
  #idle: (() => void)[] = [];
  #timer: { readonly dueAt: number; readonly timer: Timer } | undefined;
  #roomTimer: Timer | undefined;
  #stopped = false;
  #overflowed = false;

  constructor(options: WorkQueueOptions<K>) {
    this.#options = options;
    this.#limit = options.limit ?? 100_000;
    this.#waiting = new FairQueue(options.groupOf ?? (() => ""));
    this.#failures = new FailureBackoff(options.backoff ?? RETRY_BACKOFF, options.random);
    this.#bucket = new TokenBucket(options.clock, options.overallRate ?? { perSecond: 10, burst: 100 });
  }

  /** Keys waiting to be taken. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Delayed keys. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys held by workers. */
  get working(): number {
    return this.#working.size;
  }

  /** Age of the longest running work. */
  longestWorkMs(): number {
    let first: number | undefined;
    for (const { startedAt } of this.#working.values()) first = Math.min(first ?? startedAt, startedAt);
    return first === undefined ? 0 : this.#options.clock.monotonic() - first;
  }

  /** Adds a key, now or after a delay. False when the queue is full. */
  add(key: K, options: { readonly priority?: number; readonly afterMs?: number } = {}): boolean {
    if (this.#stopped) return true;
    const priority = options.priority ?? PRIORITY.normal;
    if (options.afterMs !== undefined && options.afterMs > 0) return this.#addLater(key, priority, options.afterMs);
    this.#undelay(key);
    return this.#addNow(key, priority);
  }

  /** Adds a failed key with backoff, limited by the overall rate. False when the queue is full. */
  retry(key: K, options: { readonly priority?: number; readonly atLeastMs?: number } = {}): boolean {
    if (this.#stopped) return true;
    this.#options.observer?.retried?.();
    const delayMs = Math.max(this.#failures.next(key), this.#bucket.reserve(), options.atLeastMs ?? 0);
    return this.#addLater(key, options.priority ?? PRIORITY.normal, delayMs);
  }

  /** Resets a key's backoff. */
  forget(key: K): void {
    this.#failures.forget(key);
  }

  /** Consecutive retries of the key. */
  retriesOf(key: K): number {
    return this.#failures.failuresOf(key);
  }

  /** Returns the next key, waiting if necessary; undefined once the queue is stopped. */
  take(): Promise<QueueItem<K> | undefined> {
    const ready = this.#next();
    if (ready) return Promise.resolve(ready);
    if (this.#stopped) return Promise.resolve(undefined);
    return new Promise((resolve) => void this.#waiters.push(resolve));
  }

  /** Marks the work on a taken key as finished. */
  done(key: K): void {
    const work = this.#working.get(key);
    if (!work) return;
    this.#working.delete(key);
    this.#options.observer?.finished?.(this.#options.clock.monotonic() - work.startedAt);
    if (work.again !== undefined && !this.#stopped) {
      this.#undelay(key);
      this.#addNow(key, work.again);
    }
    if (this.#working.size === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Accepts no more keys, drops waiting ones, and resolves when the workers are done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.timer.cancel();
    this.#roomTimer?.cancel();
    this.#delayed.clear();
    this.#delayedPriority.clear();
    this.#waiting.clear();
    this.#addedAt.clear();
    for (const resolve of this.#waiters.splice(0)) resolve(undefined);
    if (this.#working.size > 0) await new Promise<void>((resolve) => void this.#idle.push(resolve));
  }

  #addLater(key: K, priority: number, delayMs: number): boolean {
    if (this.#waiting.has(key)) return true;
    if (this.#delayed.size >= this.#limit && !this.#delayed.has(key)) return this.#overflow();
    this.#delayed.set(key, this.#options.clock.monotonic() + delayMs);
    this.#delayedPriority.set(key, Math.max(priority, this.#delayedPriority.get(key) ?? priority));
    this.#armTimer();
    return true;
  }

  #undelay(key: K): void {
    this.#delayed.delete(key);
    this.#delayedPriority.delete(key);
  }

  #addNow(key: K, priority: number): boolean {
    const work = this.#working.get(key);
    if (work) {
      work.again = Math.max(priority, work.again ?? priority);
      return true;
    }
    if (this.#waiting.size >= this.#limit && !this.#waiting.has(key)) return this.#overflow();
    if (this.#waiting.add(key, priority)) {
      this.#addedAt.set(key, this.#options.clock.monotonic());
      this.#options.observer?.added?.();
    }
    this.#hand();
    return true;
  }

  #overflow(): false {
    if (!this.#overflowed) this.#options.observer?.overflowed?.();
    this.#overflowed = true;
    return false;
  }

  #hand(): void {
    while (this.#waiters.length > 0) {
      const taken = this.#next();
      if (!taken) return;
      this.#waiters.shift()?.(taken);
    }
  }

  #next(): QueueItem<K> | undefined {
    if (this.#stopped) return undefined;
    const ticket = this.#waiting.take();
    if (!ticket) return undefined;
    const now = this.#options.clock.monotonic();
    const waitedMs = now - (this.#addedAt.get(ticket.key) ?? now);
    this.#addedAt.delete(ticket.key);
    this.#working.set(ticket.key, { startedAt: now, again: undefined });
    this.#options.observer?.taken?.(waitedMs);
    if (this.#overflowed && this.#waiting.size <= this.#limit / 2) {
      this.#overflowed = false;
      this.#roomTimer = this.#options.timers.after(0, () => this.#options.onRoom?.());
    }
    return { key: ticket.key, priority: ticket.priority, waitedMs };
  }

  #armTimer(): void {
    const dueAt = this.#delayed.nextDueAt();
    if (dueAt === undefined || this.#stopped) return;
    if (this.#timer && this.#timer.dueAt <= dueAt) return;
    this.#timer?.timer.cancel();
    const delayMs = Math.max(0, dueAt - this.#options.clock.monotonic());
    this.#timer = { dueAt, timer: this.#options.timers.after(delayMs, () => this.#releaseDue()) };
  }

  #releaseDue(): void {
    this.#timer = undefined;
    // Real timers may fire a fraction of a millisecond early.
    const now = this.#options.clock.monotonic() + 1;
    for (let key = this.#delayed.takeDue(now); key !== undefined; key = this.#delayed.takeDue(now)) {
      const priority = this.#delayedPriority.get(key) ?? PRIORITY.normal;
      this.#delayedPriority.delete(key);
      this.#addNow(key, priority);
    }
    this.#armTimer();
  }
}
