import { BUCKET_BOUND, dropLabels, labelValue, METRIC_NAME, labelsKey, type Labels } from "../labels.ts";
import type { Context } from "./context.ts";
import { VectorBuilder, type VectorSeries, type VectorValue } from "./value.ts";

interface Bucket {
  readonly bound: number;
  readonly count: number;
}

/** Differences below this share are rounding errors of rates. */
const TOLERANCE = 1e-12;

const BOUND_ONLY = new Set([BUCKET_BOUND]);
const BOUND_AND_NAME = new Set([BUCKET_BOUND, METRIC_NAME]);

/** `histogram_quantile` over classic histograms: series that differ in `le` only. */
export function histogramQuantile(context: Context, quantiles: Float64Array, vector: VectorValue): VectorValue {
  const builder = new VectorBuilder(context.grid.count, context.budget);
  for (const { labels, buckets } of histogramsIn(vector)) {
    const out = builder.series(labels);
    for (let index = 0; index < context.grid.count; index += 1) {
      const present = buckets.flatMap(({ bound, series }) =>
        series.present[index] === 1 ? [{ bound, count: series.values[index] ?? 0 }] : [],
      );
      context.budget.spend(buckets.length);
      if (present.length > 0) {
        builder.set(out, index, bucketQuantile(quantiles[index] ?? Number.NaN, present, context.options.prometheus));
      }
    }
  }
  return builder.build();
}

interface Histogram {
  readonly labels: Labels;
  readonly buckets: { readonly bound: number; readonly series: VectorSeries }[];
}

function histogramsIn({ series }: VectorValue): Iterable<Histogram> {
  const found = new Map<string, Histogram>();
  for (const one of series) {
    const bound = parseBound(labelValue(one.labels, BUCKET_BOUND));
    if (bound === undefined) continue;
    const key = labelsKey(dropLabels(one.labels, BOUND_ONLY));
    const histogram = found.get(key) ?? { labels: dropLabels(one.labels, BOUND_AND_NAME), buckets: [] };
    histogram.buckets.push({ bound, series: one });
    found.set(key, histogram);
  }
  return found.values();
}

function parseBound(text: string): number | undefined {
  if (text === "+Inf") return Infinity;
  if (text === "-Inf") return -Infinity;
  const bound = Number(text);
  return text.trim() === "" || Number.isNaN(bound) ? undefined : bound;
}

/** Interpolates linearly within the bucket of the rank. */
export function bucketQuantile(quantile: number, unordered: readonly Bucket[], prometheus: 2 | 3): number {
  if (Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  const sorted = unordered.toSorted((one, other) => (one.bound < other.bound ? -1 : one.bound > other.bound ? 1 : 0));
  if (sorted.at(-1)?.bound !== Infinity) return Number.NaN;
  const buckets = makeMonotonic(joinEqualBounds(sorted), prometheus === 3 ? TOLERANCE : 0);
  const total = buckets.at(-1)?.count ?? 0;
  if (buckets.length < 2 || total === 0 || Number.isNaN(total)) return Number.NaN;
  const rank = quantile * total;
  const found = buckets.slice(0, -1).findIndex(({ count }) => count >= rank);
  const bucket = buckets[found];
  if (!bucket) return buckets.at(-2)?.bound ?? Number.NaN;
  const before = buckets[found - 1];
  if (!before && bucket.bound <= 0) return bucket.bound;
  const start = before?.bound ?? 0;
  const lower = before?.count ?? 0;
  return start + (bucket.bound - start) * ((rank - lower) / (bucket.count - lower));
}

function joinEqualBounds(sorted: readonly Bucket[]): readonly Bucket[] {
  const joined: Bucket[] = [];
  for (const bucket of sorted) {
    const last = joined.at(-1);
    if (last?.bound === bucket.bound) joined[joined.length - 1] = { ...last, count: last.count + bucket.count };
    else joined.push(bucket);
  }
  return joined;
}

/** Buckets are cumulative; scrapes at different times can make them decrease. */
function makeMonotonic(buckets: readonly Bucket[], tolerance: number): readonly Bucket[] {
  let previous = buckets[0]?.count ?? 0;
  return buckets.map((bucket) => {
    const { count } = bucket;
    if (count < previous || isAlmostEqual(count, previous, tolerance)) return { ...bucket, count: previous };
    previous = count;
    return bucket;
  });
}

function isAlmostEqual(one: number, other: number, tolerance: number): boolean {
  const sum = Math.abs(one) + Math.abs(other);
  return one === other || (Number.isFinite(sum) && Math.abs(one - other) / sum < tolerance);
}
