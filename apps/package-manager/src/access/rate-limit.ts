import { Fault, type Clock } from "@oaas/foundation";

export interface RateLimit {
  /** Sustained requests per second and caller. */
  readonly perSecond: number;
  /** Requests in a burst. */
  readonly burst: number;
}

/** Tracked callers; beyond that the oldest one starts with a full bucket again. */
const MAX_CALLERS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket for each caller. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Throws resource-exhausted, with the time to wait, when the bucket of the caller is empty. */
  admit(caller: string): void {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(caller) ?? this.#newBucket(caller, now);
    const { perSecond, burst } = this.#limit;
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAtMs) / 1000) * perSecond);
    bucket.filledAtMs = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return;
    }
    const retryAfterMs = Math.ceil(((1 - bucket.tokens) / perSecond) * 1000);
    throw new Fault(
      { kind: "resource-exhausted", limit: "requests per caller", retryAfterMs },
      `${caller} exceeds ${perSecond} requests per second; retry in ${retryAfterMs} ms`,
    );
  }

  #newBucket(caller: string, now: number): Bucket {
    if (this.#buckets.size >= MAX_CALLERS) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    const bucket = { tokens: this.#limit.burst, filledAtMs: now };
    this.#buckets.set(caller, bucket);
    return bucket;
  }
}
