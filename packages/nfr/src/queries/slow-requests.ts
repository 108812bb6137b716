/** A cumulative bucket of a histogram: requests up to the bound. */
export interface Bucket {
  /** Infinity for the last bucket. */
  readonly bound: number;
  readonly count: number;
}

/**
 * Requests above a limit, from cumulative buckets: interpolated within a bucket, as `histogram_quantile` does. Requests
 * above the last finite bound count as slow. Undefined without the bucket of all requests.
 */
export function countAbove(buckets: readonly Bucket[], limit: number): number | undefined {
  const sorted = buckets.toSorted((a, b) => a.bound - b.bound);
  const total = sorted.at(-1);
  if (total?.bound !== Number.POSITIVE_INFINITY) return undefined;
  let lower = 0;
  let below = 0;
  for (const { bound, count } of sorted) {
    // Rates of buckets are computed apart; they may decrease by rounding.
    const upTo = Math.max(count, below);
    if (limit < bound) {
      const share = bound === Number.POSITIVE_INFINITY ? 0 : (limit - lower) / (bound - lower);
      return Math.max(0, total.count - (below + share * (upTo - below)));
    }
    lower = bound;
    below = upTo;
  }
  return 0;
}
