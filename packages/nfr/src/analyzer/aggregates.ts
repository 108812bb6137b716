/** Cleaned samples of one signal: ascending, distinct times, finite values that are not negative. */
export interface Window {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** The arithmetic mean; undefined without values. */
export function mean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** The largest value; undefined without values. */
export function max(values: readonly number[]): number | undefined {
  let largest: number | undefined;
  for (const value of values) if (largest === undefined || value > largest) largest = value;
  return largest;
}

/** The quantile `q` (0 to 1) with linear interpolation, as PromQL's `quantile`; undefined without values. */
export function quantile(values: readonly number[], q: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.min(Math.max(q, 0), 1) * (sorted.length - 1);
  const below = Math.floor(rank);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (high - low) * (rank - below);
}

/**
 * The exponential moving average at the last sample. A sample loses half of its weight after the half-life, regardless of
 * the step, so that gaps and other steps give comparable values.
 */
export function movingAverage({ times, values }: Window, halfLifeMs: number): number | undefined {
  let average = values[0];
  if (average === undefined) return undefined;
  for (let i = 1; i < values.length; i += 1) {
    const elapsed = (times[i] ?? 0) - (times[i - 1] ?? 0);
    average += (1 - 2 ** (-elapsed / halfLifeMs)) * ((values[i] ?? 0) - average);
  }
  return average;
}

/** Rounds to significant digits, so that noise does not change stored numbers. */
export function roundTo(value: number, digits: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return Number.isFinite(scale) && scale > 0 ? Math.round(value * scale) / scale : value;
}
