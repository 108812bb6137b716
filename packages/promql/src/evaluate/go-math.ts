/** Math with the special cases of Go, where they differ from JavaScript. */

export function goPow(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}

/** An infinity that decides wins over NaN. */
export function goMax(one: number, other: number): number {
  return one === Infinity || other === Infinity ? Infinity : Math.max(one, other);
}

export function goMin(one: number, other: number): number {
  return one === -Infinity || other === -Infinity ? -Infinity : Math.min(one, other);
}

/** A sum with Neumaier's compensation, as Prometheus adds. */
export function compensatedSum(values: Iterable<number>): number {
  let sum = 0;
  let compensation = 0;
  for (const value of values) {
    const total = sum + value;
    compensation += Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
    sum = total;
  }
  return Number.isFinite(sum) ? sum + compensation : sum;
}

export function meanOf(values: readonly number[]): number {
  const sum = compensatedSum(values);
  return Number.isFinite(sum) ? sum / values.length : incrementalMean(values);
}

/** Does not overflow where the sum does; infinite values stay. */
function incrementalMean(values: readonly number[]): number {
  let mean = 0;
  for (const [index, value] of values.entries()) {
    const isKept = Math.abs(mean) === Infinity && (value === mean || Number.isFinite(value));
    if (!isKept) mean += value / (index + 1) - mean / (index + 1);
  }
  return mean;
}

export function varianceOf(values: readonly number[]): number {
  let mean = 0;
  let squares = 0;
  for (const [index, value] of values.entries()) {
    const delta = value - mean;
    mean += delta / (index + 1);
    squares += delta * (value - mean);
  }
  return squares / values.length;
}

/** The first value wins only against NaN; otherwise the larger one. */
export function largestOf(values: readonly number[]): number {
  let largest = values[0] ?? Number.NaN;
  for (const value of values) if (value > largest || Number.isNaN(largest)) largest = value;
  return largest;
}

export function smallestOf(values: readonly number[]): number {
  let smallest = values[0] ?? Number.NaN;
  for (const value of values) if (value < smallest || Number.isNaN(smallest)) smallest = value;
  return smallest;
}

/** Interpolates between the two nearest values. */
export function quantileOf(quantile: number, values: readonly number[]): number {
  if (values.length === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  const sorted = values.toSorted(compareValues);
  const rank = quantile * (sorted.length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(sorted.length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return (sorted[lower] ?? 0) * (1 - weight) + (sorted[upper] ?? 0) * weight;
}

/** Ascending, NaN first. */
export function compareValues(one: number, other: number): number {
  if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : -1;
  if (Number.isNaN(other)) return 1;
  return one < other ? -1 : one > other ? 1 : 0;
}
