import { expensiveQuery, failedQuery, invalidQuery } from "../errors.ts";
import { compareText, dropMetricName, formatLabels, labelsKey, type Labels } from "../labels.ts";
import type { TimeSeriesStore } from "../store/time-series-store.ts";
import { checkTypes } from "../syntax/check-types.ts";
import type { Expression } from "../syntax/expression.ts";
import { parseQuery } from "../syntax/parse-query.ts";
import { evaluateAggregate } from "./aggregate.ts";
import { evaluateBinary } from "./binary.ts";
import { Budget, gridTime, type Context, type EvaluationOptions, type Grid } from "./context.ts";
import { evaluateCall } from "./functions.ts";
import { evaluateSelector, visitWindows } from "./selectors.ts";
import { mapVector, VectorBuilder, type Value, type VectorSeries } from "./value.ts";

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** The result of a query. Vectors have one point per series. */
export type QueryResult =
  | { readonly type: "scalar"; readonly point: Point }
  | { readonly type: "string"; readonly atMs: number; readonly value: string }
  | { readonly type: "vector" | "matrix"; readonly series: readonly ResultSeries[] };

export interface ResultSeries {
  readonly labels: Labels;
  readonly points: readonly Point[];
}

/** The times of a range query, both ends included. */
export interface QueryRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

const DEFAULTS: Required<EvaluationOptions> = {
  lookbackMs: 300_000,
  defaultStepMs: 60_000,
  maxSamples: 10_000_000,
  prometheus: 3,
};

/** The limit of Prometheus. */
const MAX_STEPS = 11_000;

/** Evaluates queries over a store. Faults: invalid-argument, unimplemented, failed-precondition, resource-exhausted. */
export class QueryEngine {
  readonly #store: TimeSeriesStore;
  readonly #options: Required<EvaluationOptions>;

  constructor(store: TimeSeriesStore, options: EvaluationOptions = {}) {
    this.#store = store;
    this.#options = { ...DEFAULTS, ...options };
  }

  queryInstant(query: string, atMs: number): QueryResult {
    const { expr, budget } = this.#parse(query);
    const grid: Grid = { startMs: atMs, stepMs: 1, count: 1 };
    const context = this.#context(grid, { startMs: atMs, endMs: atMs }, budget);
    if (expr.type === "range" || expr.type === "subquery") return { type: "matrix", series: readMatrix(context, expr) };
    return instantResult(context.evaluate(expr), atMs);
  }

  queryRange(query: string, { startMs, endMs, stepMs }: QueryRange): QueryResult {
    const { expr, budget } = this.#parse(query);
    const type = checkTypes(expr);
    if (type !== "scalar" && type !== "vector") {
      const title = type === "matrix" ? "range vector" : type;
      throw invalidQuery(`invalid expression type "${title}" for range query, must be Scalar or instant Vector`);
    }
    if (!(stepMs >= 1))
      throw invalidQuery("zero or negative query resolution step widths are not accepted. Try a positive integer");
    if (endMs < startMs) throw invalidQuery("end timestamp must not be before start time");
    const count = Math.floor((endMs - startMs) / stepMs) + 1;
    if (count > MAX_STEPS + 1) {
      throw expensiveQuery(
        "steps",
        `exceeded maximum resolution of ${MAX_STEPS.toLocaleString("en")} points per timeseries. Try decreasing the query resolution (?step=XX)`,
      );
    }
    const grid: Grid = { startMs, stepMs, count };
    const value = this.#context(grid, { startMs, endMs }, budget).evaluate(expr);
    return { type: "matrix", series: sortSeries(rangeSeries(value, grid)) };
  }

  #parse(query: string): { readonly expr: Expression; readonly budget: Budget } {
    const budget = new Budget(this.#options.maxSamples);
    return { expr: parseQuery(query, { spend: (steps) => budget.spend(steps) }), budget };
  }

  #context(grid: Grid, query: Context["query"], budget: Budget): Context {
    const context: Context = {
      store: this.#store,
      grid,
      query,
      budget,
      options: this.#options,
      evaluate: (expr, other) => evaluate(other ? this.#context(other, query, budget) : context, expr),
    };
    return context;
  }
}

function evaluate(context: Context, expr: Expression): Value {
  const { grid, budget } = context;
  switch (expr.type) {
    case "number":
      budget.spend(grid.count);
      return { type: "scalar", values: new Float64Array(grid.count).fill(expr.value) };
    case "string":
      return { type: "string", value: expr.value };
    case "selector":
      return evaluateSelector(context, expr);
    case "negate":
      return negate(context, context.evaluate(expr.expr));
    case "call":
      return evaluateCall(context, expr);
    case "aggregate": {
      const vector = context.evaluate(expr.expr);
      if (vector.type !== "vector") throw failedQuery("an aggregation needs an instant vector");
      return evaluateAggregate(context, expr, vector);
    }
    case "binary":
      return evaluateBinary(context, expr);
    case "range":
    case "subquery":
      throw failedQuery("a range vector is only allowed as the argument of a function");
  }
}

function negate({ grid, budget }: Context, value: Value): Value {
  if (value.type === "scalar") return { type: "scalar", values: value.values.map((one) => -one) };
  if (value.type === "string") return value;
  return mapVector(value, new VectorBuilder(grid.count, budget), { labels: dropMetricName, value: (one) => -one });
}

function readMatrix(
  context: Context,
  expr: Extract<Expression, { type: "range" | "subquery" }>,
): readonly ResultSeries[] {
  const series: ResultSeries[] = [];
  visitWindows(context, expr, {
    series:
      (labels) =>
      ({ times, values, from, to }) => {
        const points = Array.from(times.subarray(from, to), (atMs, index) => ({
          atMs,
          value: values[from + index] ?? 0,
        }));
        series.push({ labels, points });
      },
  });
  return sortSeries(series);
}

function instantResult(value: Value, atMs: number): QueryResult {
  if (value.type === "string") return { type: "string", atMs, value: value.value };
  if (value.type === "scalar") return { type: "scalar", point: { atMs, value: value.values[0] ?? Number.NaN } };
  const series = value.series.map(({ labels, values }) => ({ labels, points: [{ atMs, value: values[0] ?? 0 }] }));
  checkUnique(series);
  return { type: "vector", series };
}

function checkUnique(series: readonly ResultSeries[]): void {
  const keys = new Set<string>();
  for (const { labels } of series) {
    const key = labelsKey(labels);
    if (keys.has(key))
      throw failedQuery(`vector cannot contain metrics with the same labelset: ${formatLabels(labels)}`);
    keys.add(key);
  }
}

function rangeSeries(value: Value, grid: Grid): readonly ResultSeries[] {
  if (value.type === "string") return [];
  if (value.type === "vector")
    return value.series.map((series) => ({ labels: series.labels, points: pointsOf(series, grid) }));
  const points = Array.from(value.values, (one, index) => ({ atMs: gridTime(grid, index), value: one }));
  return [{ labels: [], points }];
}

function pointsOf({ values, present }: VectorSeries, grid: Grid): readonly Point[] {
  const points: Point[] = [];
  for (const [index, isPresent] of present.entries()) {
    if (isPresent === 1) points.push({ atMs: gridTime(grid, index), value: values[index] ?? 0 });
  }
  return points;
}

function sortSeries(series: readonly ResultSeries[]): readonly ResultSeries[] {
  return series
    .map((one) => ({ one, key: labelsKey(one.labels) }))
    .toSorted((left, right) => compareText(left.key, right.key))
    .map(({ one }) => one);
}
