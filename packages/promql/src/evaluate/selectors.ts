import { type Labels } from "../labels.ts";
import type { FixedTime, RangeSelector, Selector, Subquery } from "../syntax/expression.ts";
import { gridTime, type Context, type Grid } from "./context.ts";
import { VectorBuilder, type VectorValue } from "./value.ts";

/** The reference time of a selector at one step. */
export function referenceTime(
  { query, grid }: Pick<Context, "query" | "grid">,
  { at, offsetMs }: { readonly at?: FixedTime; readonly offsetMs: number },
  index: number,
): number {
  const fixed = at === "start" ? query.startMs : at === "end" ? query.endMs : at;
  return (fixed ?? gridTime(grid, index)) - offsetMs;
}

/** The newest sample of each series at each step, or its time. */
export function evaluateSelector(context: Context, selector: Selector, part: "value" | "time" = "value"): VectorValue {
  const { grid, options, budget, store } = context;
  const { lookbackMs } = options;
  const first = referenceTime(context, selector, 0);
  const last = referenceTime(context, selector, grid.count - 1);
  const builder = new VectorBuilder(grid.count, budget);
  for (const { labels, slice } of bindSlices(store.select(selector.matchers))) {
    const { times, values, stale } = slice(first - lookbackMs, last);
    if (times.length === 0) continue;
    budget.spend(times.length);
    const out = builder.series(labels);
    for (let index = 0, next = 0; index < grid.count; index += 1) {
      const reference = referenceTime(context, selector, index);
      while (next < times.length && (times[next] ?? 0) <= reference) next += 1;
      const newest = next - 1;
      const atMs = times[newest];
      if (atMs === undefined || stale[newest] === 1 || isBefore(context, atMs, reference - lookbackMs)) continue;
      builder.set(out, index, part === "value" ? (values[newest] ?? 0) : atMs / 1000);
    }
  }
  return builder.build();
}

/** Whether a sample lies before a range that starts at `startMs`: Prometheus 3 excludes the start. */
function isBefore({ options }: Context, atMs: number, startMs: number): boolean {
  return options.prometheus === 3 ? atMs <= startMs : atMs < startMs;
}

type BoundSeries = { readonly labels: Labels; readonly slice: ReturnType<Context["store"]["select"]>[number]["slice"] };

function bindSlices(series: ReturnType<Context["store"]["select"]>): readonly BoundSeries[] {
  return series.map((one) => ({ labels: one.labels, slice: (fromMs, toMs) => one.slice(fromMs, toMs) }));
}

/** The samples of one series of a range vector, over all steps. */
export interface MatrixSeries {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** The samples of one series within the range of one step: the indexes from `from` to before `to`. */
export interface Window extends MatrixSeries {
  readonly from: number;
  readonly to: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The index of the step. */
  readonly index: number;
}

/** Calls `visit` for each series and each step with at least one sample in its range. */
export function visitWindows(
  context: Context,
  matrix: RangeSelector | Subquery,
  visit: { readonly series: (labels: Labels) => (window: Window) => void },
): void {
  const shifted = matrix.type === "range" ? matrix.selector : matrix;
  for (const series of matrixSeries(context, matrix)) {
    const { times } = series;
    if (times.length === 0) continue;
    const visitWindow = visit.series(series.labels);
    for (let index = 0, from = 0, to = 0; index < context.grid.count; index += 1) {
      const endMs = referenceTime(context, shifted, index);
      const startMs = endMs - matrix.rangeMs;
      while (to < times.length && (times[to] ?? 0) <= endMs) to += 1;
      while (from < to && isBefore(context, times[from] ?? 0, startMs)) from += 1;
      context.budget.spend(to - from);
      if (to > from) visitWindow({ ...series, from, to, startMs, endMs, index });
    }
  }
}

export function matrixSeries(context: Context, matrix: RangeSelector | Subquery): readonly MatrixSeries[] {
  return matrix.type === "range" ? rangeSeries(context, matrix) : subquerySeries(context, matrix);
}

function rangeSeries(context: Context, { selector, rangeMs }: RangeSelector): readonly MatrixSeries[] {
  const first = referenceTime(context, selector, 0) - rangeMs;
  const last = referenceTime(context, selector, context.grid.count - 1);
  return context.store.select(selector.matchers).map((series) => {
    const { times, values, stale } = series.slice(first, last);
    context.budget.spend(times.length);
    if (!stale.includes(1)) return { labels: series.labels, times, values };
    const isLive = (_: number, index: number): boolean => stale[index] === 0;
    return { labels: series.labels, times: times.filter(isLive), values: values.filter(isLive) };
  });
}

/** Evaluates the inner expression at multiples of the step, once for all outer steps. */
function subquerySeries(context: Context, subquery: Subquery): readonly MatrixSeries[] {
  const stepMs = subquery.stepMs ?? context.options.defaultStepMs;
  const first = referenceTime(context, subquery, 0) - subquery.rangeMs;
  const last = referenceTime(context, subquery, context.grid.count - 1);
  const startMs = Math.ceil(first / stepMs) * stepMs;
  const grid: Grid = { startMs, stepMs, count: Math.max(0, Math.floor((last - startMs) / stepMs) + 1) };
  context.budget.spend(grid.count);
  const value = grid.count === 0 ? undefined : context.evaluate(subquery.expr, grid);
  return value?.type === "vector" ? value.series.map((series) => samplesOf(series, grid)) : [];
}

function samplesOf({ labels, values, present }: VectorValue["series"][number], grid: Grid): MatrixSeries {
  const isPresent = (_: number, index: number): boolean => present[index] === 1;
  const times = Float64Array.from(values, (_, index) => gridTime(grid, index));
  return { labels, times: times.filter(isPresent), values: values.filter(isPresent) };
}
