import { backoffDelay, type BackoffPolicy, type Clock, type Random } from "@oaas/foundation";

/** A token bucket that refills steadily; taking more than it has delays later callers. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(clock: Clock, options: { readonly perSecond: number; readonly burst: number }) {
    this.#clock = clock;
    this.#perMs = options.perSecond / 1000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#at = clock.monotonic();
  }

  /** Takes one token and returns how long to wait before using it. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes one token if available. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}

/** Consecutive failures per key, and the resulting delay. */
export class FailureBackoff<K> {
  readonly #failures = new Map<K, number>();
  readonly #policy: BackoffPolicy;
  readonly #random: Random;

  constructor(policy: BackoffPolicy, random: Random) {
    this.#policy = policy;
    this.#random = random;
  }

  /** Counts one more failure and returns the delay. */
  next(key: K): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return backoffDelay(this.#policy, failures, this.#random);
  }

  failuresOf(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: K): void {
    this.#failures.delete(key);
  }
}
