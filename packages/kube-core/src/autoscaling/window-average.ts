const BUCKET_MS = 1000;
const PRECISION = 1e6;

/**
 * The average of a metric over a window of buckets of one second, as Knative computes it: a window that is not full yet
 * is averaged over the buckets since the first value, and a gap inside it counts as zero.
 */
export class WindowAverage {
  readonly #windowMs: number;
  readonly #buckets: Float64Array;
  #firstMs: number | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** Includes buckets that are outdated by now. */
  #total = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#buckets = new Float64Array(Math.ceil(windowMs / BUCKET_MS));
  }

  record(atMs: number, value: number): void {
    const bucketMs = startOf(atMs);
    if (bucketMs !== this.#lastMs) {
      // A value from before the window is ignored.
      if (bucketMs + this.#windowMs <= this.#lastMs) return;
      if (this.#firstMs === undefined || this.#firstMs > bucketMs) this.#firstMs = bucketMs;
      if (bucketMs > this.#lastMs) this.#advance(bucketMs);
    }
    const index = this.#indexOf(bucketMs);
    this.#buckets[index] = this.#weight(index) + value;
    this.#total += value;
  }

  isEmpty(nowMs: number): boolean {
    return startOf(nowMs) - this.#lastMs > this.#windowMs;
  }

  average(nowMs: number): number {
    const now = startOf(nowMs);
    const idleMs = now - this.#lastMs;
    if (idleMs >= this.#windowMs || this.#firstMs === undefined) return 0;
    let total = this.#total;
    for (let at = this.#lastMs + BUCKET_MS; at <= now; at += BUCKET_MS) total -= this.#weight(this.#indexOf(at));
    const missing = Math.max(idleMs, 0) / BUCKET_MS;
    const count = Math.min((this.#lastMs - this.#firstMs) / BUCKET_MS + 1, this.#buckets.length - missing);
    return Math.round((total / count) * PRECISION) / PRECISION;
  }

  /** Clears the buckets between the last value and the new one. */
  #advance(bucketMs: number): void {
    if (bucketMs - this.#lastMs >= this.#windowMs) {
      this.#firstMs = bucketMs;
      this.#buckets.fill(0);
      this.#total = 0;
    } else {
      for (let at = this.#lastMs + BUCKET_MS; at <= bucketMs; at += BUCKET_MS) {
        const index = this.#indexOf(at);
        this.#total -= this.#weight(index);
        this.#buckets[index] = 0;
      }
    }
    this.#lastMs = bucketMs;
  }

  #indexOf(bucketMs: number): number {
    return Math.floor(bucketMs / BUCKET_MS) % this.#buckets.length;
  }

  #weight(index: number): number {
    return this.#buckets[index] ?? 0;
  }
}

function startOf(atMs: number): number {
  return Math.floor(atMs / BUCKET_MS) * BUCKET_MS;
}
