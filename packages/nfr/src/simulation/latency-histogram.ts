const FIRST_MS = 1;
const GROWTH = 1.1;
const BUCKETS = 180;

/** Counts of response times in buckets that grow by a tenth, from 1 ms to 7 hours. */
export class LatencyHistogram {
  readonly #counts: Uint32Array;

  constructor(counts = new Uint32Array(BUCKETS)) {
    this.#counts = counts;
  }

  add(latencyMs: number): void {
    const bucket = latencyMs <= FIRST_MS ? 0 : Math.ceil(Math.log(latencyMs / FIRST_MS) / Math.log(GROWTH));
    increment(this.#counts, Math.min(bucket, BUCKETS - 1));
  }

  copy(): LatencyHistogram {
    return new LatencyHistogram(this.#counts.slice());
  }

  /** The response times since an earlier copy. */
  since(earlier: LatencyHistogram): LatencyHistogram {
    return new LatencyHistogram(this.#counts.map((count, at) => count - (earlier.#counts[at] as number)));
  }

  /** A percentile, rounded up to the end of its bucket; undefined without requests. */
  quantile(share: number): number | undefined {
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return undefined;
    let seen = 0;
    const bucket = this.#counts.findIndex((count) => (seen += count) >= share * total);
    return FIRST_MS * GROWTH ** bucket;
  }
}

/** Adds one to an element of an array of counts. */
export function increment(counts: Uint32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}
