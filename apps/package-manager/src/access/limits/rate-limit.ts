import { Fault, type Clock } from "@oaas/foundation";

export interface RateLimit {
  /** Sustained requests per second and caller. */
  readonly perSecond: number;
  /** Requests in a burst. */
  readonly burst: number;
  /** Tracked callers; 10,000 by default. */
  readonly maxCallers?: number;
}

const MAX_CALLERS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * A token bucket for each caller.
 *
 * *Guarantees*: when the table is full, a new caller replaces the least recently used one that is not throttled. A caller
 * cannot reset its bucket by filling the table with other names.
 */
export class RateLimiter {
  readonly #currentLimit: () => RateLimit;
  readonly #clock: Clock;
  /** The least recently used caller first. */
  readonly #buckets = new Map<string, Bucket>();
  #newest: string | undefined;

  constructor(limit: RateLimit | (() => RateLimit), clock: Clock) {
    this.#currentLimit = typeof limit === "function" ? limit : () => limit;
    this.#clock = clock;
  }

  get #limit(): RateLimit {
    return this.#currentLimit();
  }

  /** Throws resource-exhausted, with the time to wait, when the bucket of the caller is empty. */
  admit(caller: string): void {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(caller) ?? this.#newBucket(caller, now);
    if (caller !== this.#newest) this.#moveToEnd(caller, bucket);
    bucket.tokens = this.#tokensIn(bucket, now);
    bucket.filledAtMs = now;
    if (bucket.tokens < 1) throw this.#exhausted(caller, bucket);
    bucket.tokens -= 1;
  }

  #moveToEnd(caller: string, bucket: Bucket): void {
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    this.#newest = caller;
  }

  #tokensIn({ tokens, filledAtMs }: Bucket, now: number): number {
    const { perSecond, burst } = this.#limit;
    return Math.min(burst, tokens + ((now - filledAtMs) / 1000) * perSecond);
  }

  #newBucket(caller: string, now: number): Bucket {
    const { burst, maxCallers = MAX_CALLERS } = this.#limit;
    if (this.#buckets.size >= maxCallers) this.#makeRoom(caller, now);
    return { tokens: burst, filledAtMs: now };
  }

  #makeRoom(caller: string, now: number): void {
    for (const [other, bucket] of this.#buckets) {
      if (this.#tokensIn(bucket, now) < 1) continue;
      this.#buckets.delete(other);
      return;
    }
    throw this.#exhausted(caller, { tokens: 0, filledAtMs: now });
  }

  #exhausted(caller: string, { tokens }: Bucket): Fault {
    const { perSecond } = this.#limit;
    const retryAfterMs = Math.ceil(((1 - tokens) / perSecond) * 1000);
    return new Fault(
      { kind: "resource-exhausted", limit: "requests per caller", retryAfterMs },
      `${caller} exceeds ${perSecond} requests per second; retry in ${retryAfterMs} ms`,
    );
  }
}
