import { dropMetricName } from "../labels.ts";
import type { RangeSelector, Subquery } from "../syntax/expression.ts";
import { gridTime, type Context } from "./context.ts";
import { compensatedSum, largestOf, meanOf, quantileOf, smallestOf, varianceOf } from "./go-math.ts";
import { extrapolatedRate } from "./rate.ts";
import { visitWindows, type Window } from "./selectors.ts";
import { VectorBuilder, type VectorValue } from "./value.ts";

/** The other parameters of a range function. */
interface Extra {
  /** The scalar argument at this step. */
  readonly scalar: number;
  /** The time of the step, without offset. */
  readonly nowMs: number;
  readonly prometheus: 2 | 3;
}

/** The value of one window; undefined when there are too few samples. */
type RangeFunction = (window: Window, extra: Extra) => number | undefined;

const overTime =
  (compute: (values: readonly number[]) => number): RangeFunction =>
  (window) =>
    compute(valuesOf(window));

const RANGE_FUNCTIONS: ReadonlyMap<string, RangeFunction> = new Map<string, RangeFunction>([
  ["rate", (window, { prometheus }) => extrapolatedRate(window, { isCounter: true, isRate: true, prometheus })],
  ["increase", (window, { prometheus }) => extrapolatedRate(window, { isCounter: true, isRate: false, prometheus })],
  ["delta", (window, { prometheus }) => extrapolatedRate(window, { isCounter: false, isRate: false, prometheus })],
  ["irate", (window) => instantDelta(window, true)],
  ["idelta", (window) => instantDelta(window, false)],
  ["deriv", (window) => regression(window, window.times[window.from] ?? 0)?.slope],
  ["predict_linear", (window, { scalar, nowMs }) => predict(window, nowMs, scalar)],
  ["changes", (window) => countPairs(window, (before, value) => value !== before && !bothNaN(before, value))],
  ["resets", (window) => countPairs(window, (before, value) => value < before)],
  ["avg_over_time", overTime(meanOf)],
  ["min_over_time", overTime(smallestOf)],
  ["max_over_time", overTime(largestOf)],
  ["sum_over_time", overTime(compensatedSum)],
  ["count_over_time", ({ from, to }) => to - from],
  ["stddev_over_time", overTime((values) => Math.sqrt(varianceOf(values)))],
  ["stdvar_over_time", overTime(varianceOf)],
  ["last_over_time", ({ values, to }) => values[to - 1]],
  ["present_over_time", () => 1],
  ["quantile_over_time", (window, { scalar }) => quantileOf(scalar, valuesOf(window))],
]);

export function rangeFunction(name: string): RangeFunction | undefined {
  return RANGE_FUNCTIONS.get(name);
}

/** Applies a function to the range of each step. Only `last_over_time` keeps the metric name. */
export function evaluateRangeFunction(
  context: Context,
  call: { readonly name: string; readonly compute: RangeFunction; readonly matrix: RangeSelector | Subquery },
  scalars: Float64Array | undefined,
): VectorValue {
  const { grid, options, budget } = context;
  const builder = new VectorBuilder(grid.count, budget);
  visitWindows(context, call.matrix, {
    series: (labels) => {
      const out = builder.series(call.name === "last_over_time" ? labels : dropMetricName(labels));
      return (window) => {
        const scalar = scalars?.[window.index] ?? 0;
        const nowMs = gridTime(grid, window.index);
        const value = call.compute(window, { scalar, nowMs, prometheus: options.prometheus });
        if (value !== undefined) builder.set(out, window.index, value);
      };
    },
  });
  return builder.build();
}

function valuesOf({ values, from, to }: Window): readonly number[] {
  return Array.from(values.subarray(from, to));
}

function bothNaN(one: number, other: number): boolean {
  return Number.isNaN(one) && Number.isNaN(other);
}

function countPairs({ values, from, to }: Window, isCounted: (before: number, value: number) => boolean): number {
  let count = 0;
  for (let at = from + 1; at < to; at += 1) if (isCounted(values[at - 1] ?? 0, values[at] ?? 0)) count += 1;
  return count;
}

function instantDelta({ times, values, from, to }: Window, isRate: boolean): number | undefined {
  if (to - from < 2) return undefined;
  const [before = 0, value = 0] = values.subarray(to - 2, to);
  const [beforeMs = 0, atMs = 0] = times.subarray(to - 2, to);
  const delta = isRate && value < before ? value : value - before;
  return isRate ? delta / ((atMs - beforeMs) / 1000) : delta;
}

/** Least squares, with the time relative to `originMs` in seconds. */
function regression(
  { times, values, from, to }: Window,
  originMs: number,
): { readonly slope: number; readonly intercept: number } | undefined {
  if (to - from < 2) return undefined;
  const y = Array.from(values.subarray(from, to));
  const x = Array.from(times.subarray(from, to), (atMs) => (atMs - originMs) / 1000);
  const [first = 0] = y;
  if (y.every((value) => value === first)) {
    const isKnown = Number.isFinite(first);
    return isKnown ? { slope: 0, intercept: first } : { slope: Number.NaN, intercept: Number.NaN };
  }
  const count = y.length;
  const sumX = compensatedSum(x);
  const sumY = compensatedSum(y);
  const covariance = compensatedSum(x.map((value, index) => value * (y[index] ?? 0))) - (sumX * sumY) / count;
  const variance = compensatedSum(x.map((value) => value * value)) - (sumX * sumX) / count;
  const slope = covariance / variance;
  return { slope, intercept: sumY / count - (slope * sumX) / count };
}

function predict(window: Window, nowMs: number, seconds: number): number | undefined {
  const line = regression(window, nowMs);
  return line && line.slope * seconds + line.intercept;
}
