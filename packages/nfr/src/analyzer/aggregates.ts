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

/** The smallest value; undefined without values. */
export function min(values: readonly number[]): number | undefined {
  let smallest: number | undefined;
  for (const value of values) if (smallest === undefined || value < smallest) smallest = value;
  return smallest;
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

/**
 * The rate of the newest step, from rates over ranges of several steps: the rate times the steps of a range, minus the
 * steps before the newest one, which are known from earlier rates. The steps before the first sample are not known; the
 * mean over all samples to start at leaves little of that error. Undefined with a gap in the newest range.
 */
export function newestRate(window: Window, rangeMs: number, stepMs: number): number | undefined {
  const steps = Math.max(1, Math.round(rangeMs / stepMs));
  const rates = withoutGaps(window, stepMs);
  const newest = rates.at(-1);
  if (newest === undefined || rates.length <= steps) return undefined;
  let sum = 0;
  const starts = rates.length - steps;
  for (let start = 0; start < starts; start += 1) sum += newestStep(rates, start, steps);
  return Math.min(Math.max(0, sum / starts), steps * newest);
}

/** The newest values that follow each other by one step. */
function withoutGaps({ times, values }: Window, stepMs: number): readonly number[] {
  let first = values.length - 1;
  while (first > 0 && (times[first] ?? 0) - (times[first - 1] ?? 0) <= 1.5 * stepMs) first -= 1;
  return values.slice(Math.max(0, first));
}

/** The newest step if all steps of the first range had the same rate. */
function newestStep(rates: readonly number[], start: number, steps: number): number {
  const parts = Array.from<number>({ length: steps }).fill(rates[start] ?? 0);
  let sum = steps * (rates[start] ?? 0);
  for (let i = start + 1; i < rates.length; i += 1) {
    const oldest = parts[(i - start - 1) % steps] ?? 0;
    const part = Math.max(0, steps * (rates[i] ?? 0) - (sum - oldest));
    parts[(i - start - 1) % steps] = part;
    sum += part - oldest;
  }
  return parts[(rates.length - start - 2) % steps] ?? 0;
}

/** Rounds to significant digits, so that noise does not change stored numbers. */
export function roundTo(value: number, digits: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return Number.isFinite(scale) && scale > 0 ? Math.round(value * scale) / scale : value;
}
