import { failedQuery, unsupportedQuery } from "../errors.ts";
import { dropMetricName, METRIC_NAME, NO_LABELS, labelsFrom, type Labels } from "../labels.ts";
import type { Call, Expression, RangeSelector, Subquery } from "../syntax/expression.ts";
import { gridTime, type Context } from "./context.ts";
import { DATE_FUNCTIONS } from "./date-functions.ts";
import { compareValues, goMax, goMin } from "./go-math.ts";
import { histogramQuantile } from "./histogram.ts";
import { joinLabels, replaceLabel } from "./label-functions.ts";
import { evaluateRangeFunction, rangeFunction } from "./range-functions.ts";
import { evaluateSelector, visitWindows } from "./selectors.ts";
import { mapVector, VectorBuilder, type Value, type VectorValue } from "./value.ts";

/** Functions of one value. */
const VALUE_FUNCTIONS: ReadonlyMap<string, (value: number) => number> = new Map<string, (value: number) => number>([
  ["abs", Math.abs],
  ["ceil", Math.ceil],
  ["floor", Math.floor],
  ["exp", Math.exp],
  ["sqrt", Math.sqrt],
  ["ln", Math.log],
  ["log2", Math.log2],
  ["log10", Math.log10],
  ["sgn", (value) => (value > 0 ? 1 : value < 0 ? -1 : value)],
  ["acos", Math.acos],
  ["acosh", Math.acosh],
  ["asin", Math.asin],
  ["asinh", Math.asinh],
  ["atan", Math.atan],
  ["atanh", Math.atanh],
  ["cos", Math.cos],
  ["cosh", Math.cosh],
  ["sin", Math.sin],
  ["sinh", Math.sinh],
  ["tan", Math.tan],
  ["tanh", Math.tanh],
  ["deg", (value) => (value * 180) / Math.PI],
  ["rad", (value) => (value * Math.PI) / 180],
]);

/** Evaluates a call whose types are checked. */
export function evaluateCall(context: Context, call: Call): Value {
  const compute = rangeFunction(call.name);
  if (compute) return evaluateOverRange(context, call, compute);
  const ofValue = VALUE_FUNCTIONS.get(call.name);
  if (ofValue) return mapValues(context, vectorArg(context, call, 0), ofValue);
  const ofDate = DATE_FUNCTIONS.get(call.name);
  if (ofDate) return mapValues(context, dateArg(context, call), (value) => ofDate(new Date(Math.trunc(value) * 1000)));
  const special = SPECIAL.get(call.name);
  if (!special) throw unsupportedQuery(`function ${call.name}`);
  return special(context, call);
}

const SPECIAL: ReadonlyMap<string, (context: Context, call: Call) => Value> = new Map<
  string,
  (context: Context, call: Call) => Value
>([
  ["time", ({ grid }) => ({ type: "scalar", values: stepValues(grid.count, (index) => gridTime(grid, index) / 1000) })],
  ["pi", ({ grid }) => ({ type: "scalar", values: stepValues(grid.count, () => Math.PI) })],
  ["scalar", (context, call) => toScalar(context, vectorArg(context, call, 0))],
  ["vector", (context, call) => toVector(context, scalarArg(context, call, 0))],
  ["timestamp", evaluateTimestamp],
  ["absent", evaluateAbsent],
  ["absent_over_time", evaluateAbsentOverTime],
  ["sort", (context, call) => sortByValue(vectorArg(context, call, 0), 1)],
  ["sort_desc", (context, call) => sortByValue(vectorArg(context, call, 0), -1)],
  [
    "clamp",
    (context, call) => clamp(context, call, { min: scalarArg(context, call, 1), max: scalarArg(context, call, 2) }),
  ],
  ["clamp_min", (context, call) => clamp(context, call, { min: scalarArg(context, call, 1) })],
  ["clamp_max", (context, call) => clamp(context, call, { max: scalarArg(context, call, 1) })],
  ["round", round],
  [
    "histogram_quantile",
    (context, call) => histogramQuantile(context, scalarArg(context, call, 0), vectorArg(context, call, 1)),
  ],
  [
    "label_replace",
    (context, call) =>
      changeLabels(
        context,
        call,
        replaceLabel(stringArgs(call), (steps) => context.budget.spend(steps)),
      ),
  ],
  ["label_join", (context, call) => changeLabels(context, call, joinLabels(stringArgs(call)))],
]);

function stepValues(count: number, value: (index: number) => number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => value(index));
}

function vectorArg(context: Context, { args }: Call, index: number): VectorValue {
  const value = args[index] && context.evaluate(args[index]);
  if (value?.type !== "vector") throw failedQuery("an argument is not an instant vector");
  return value;
}

function scalarArg(context: Context, { args }: Call, index: number): Float64Array {
  const value = args[index] && context.evaluate(args[index]);
  if (value?.type !== "scalar") throw failedQuery("an argument is not a scalar");
  return value.values;
}

function stringArgs({ args }: Call): readonly string[] {
  return args.flatMap((arg) => (arg.type === "string" ? [arg.value] : []));
}

function isMatrix(expr: Expression): expr is RangeSelector | Subquery {
  return expr.type === "range" || expr.type === "subquery";
}

function evaluateOverRange(
  context: Context,
  call: Call,
  compute: NonNullable<ReturnType<typeof rangeFunction>>,
): VectorValue {
  const matrix = call.args.find(isMatrix);
  if (!matrix) throw failedQuery(`function ${call.name} needs a range vector`);
  const scalar = call.args.findIndex((arg) => !isMatrix(arg));
  const scalars = scalar < 0 ? undefined : scalarArg(context, call, scalar);
  return evaluateRangeFunction(context, { name: call.name, compute, matrix }, scalars);
}

function mapValues(
  { grid, budget }: Context,
  vector: VectorValue,
  value: (value: number, index: number) => number | undefined,
): VectorValue {
  return mapVector(vector, new VectorBuilder(grid.count, budget), { labels: dropMetricName, value });
}

function changeLabels(context: Context, call: Call, labels: (labels: Labels) => Labels): VectorValue {
  const { grid, budget } = context;
  return mapVector(vectorArg(context, call, 0), new VectorBuilder(grid.count, budget), {
    labels,
    value: (value) => value,
  });
}

/** The functions of dates default to the time of evaluation. */
function dateArg(context: Context, call: Call): VectorValue {
  if (call.args.length > 0) return vectorArg(context, call, 0);
  return toVector(
    context,
    stepValues(context.grid.count, (index) => gridTime(context.grid, index) / 1000),
  );
}

function toVector({ grid, budget }: Context, values: Float64Array): VectorValue {
  const builder = new VectorBuilder(grid.count, budget);
  const out = builder.series(NO_LABELS);
  for (const [index, value] of values.entries()) builder.set(out, index, value);
  return builder.build();
}

function toScalar({ grid, budget }: Context, { series }: VectorValue): Value {
  budget.spend(series.length * grid.count);
  const values = stepValues(grid.count, (index) => {
    const [only, other] = series.filter(({ present }) => present[index] === 1);
    return only && !other ? (only.values[index] ?? Number.NaN) : Number.NaN;
  });
  return { type: "scalar", values };
}

/** The time of the sample for a selector, the time of evaluation for any other expression. */
function evaluateTimestamp(context: Context, call: Call): VectorValue {
  const [arg] = call.args;
  if (arg?.type === "selector") return mapValues(context, evaluateSelector(context, arg, "time"), (value) => value);
  return mapValues(context, vectorArg(context, call, 0), (_, index) => gridTime(context.grid, index) / 1000);
}

function evaluateAbsent(context: Context, call: Call): VectorValue {
  const { series } = vectorArg(context, call, 0);
  context.budget.spend(series.length * context.grid.count);
  return absentVector(context, call.args[0], (index) => series.some(({ present }) => present[index] === 1));
}

function evaluateAbsentOverTime(context: Context, call: Call): VectorValue {
  const matrix = call.args.find(isMatrix);
  if (!matrix) throw failedQuery(`function ${call.name} needs a range vector`);
  const found = new Uint8Array(context.grid.count);
  visitWindows(context, matrix, {
    series: () => (window) => {
      found[window.index] = 1;
    },
  });
  return absentVector(context, matrix, (index) => found[index] === 1);
}

/** 1 with the labels that the selector names, where nothing is present. */
function absentVector(
  { grid, budget }: Context,
  expr: Expression | undefined,
  isPresent: (index: number) => boolean,
): VectorValue {
  const builder = new VectorBuilder(grid.count, budget);
  const out = builder.series(absentLabels(expr));
  for (let index = 0; index < grid.count; index += 1) if (!isPresent(index)) builder.set(out, index, 1);
  return builder.build();
}

function absentLabels(expr: Expression | undefined): Labels {
  const selector = expr?.type === "range" ? expr.selector : expr;
  if (selector?.type !== "selector") return NO_LABELS;
  const named = selector.matchers.filter(({ label }) => label !== METRIC_NAME);
  const unique = named.filter(
    ({ label, operator }) => operator === "=" && named.filter((other) => other.label === label).length === 1,
  );
  return labelsFrom(unique.map(({ label, value }) => [label, value] as const));
}

/** Only an instant query has an order; NaN comes last. */
function sortByValue({ series }: VectorValue, direction: 1 | -1): VectorValue {
  const sorted = series.toSorted((one, other) => {
    const [left = 0, right = 0] = [one.values[0], other.values[0]];
    const order = compareValues(left, right);
    return Number.isNaN(left) || Number.isNaN(right) ? -order : order * direction;
  });
  return { type: "vector", series: sorted };
}

interface ClampBounds {
  readonly min?: Float64Array;
  readonly max?: Float64Array;
}

function clamp(context: Context, call: Call, { min, max }: ClampBounds): VectorValue {
  return mapValues(context, vectorArg(context, call, 0), (value, index) => {
    const lower = min?.[index];
    const upper = max?.[index];
    if (lower !== undefined && upper !== undefined && upper < lower) return undefined;
    const limited = upper === undefined ? value : goMin(upper, value);
    return lower === undefined ? limited : goMax(lower, limited);
  });
}

/** Ties are rounded up. */
function round(context: Context, call: Call): VectorValue {
  const nearest = call.args.length > 1 ? scalarArg(context, call, 1) : undefined;
  return mapValues(context, vectorArg(context, call, 0), (value, index) => {
    const inverse = 1 / (nearest?.[index] ?? 1);
    return Math.floor(value * inverse + 0.5) / inverse;
  });
}
