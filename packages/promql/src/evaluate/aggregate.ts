import { failedQuery } from "../errors.ts";
import { dropLabels, keepLabels, labelsKey, METRIC_NAME, withLabel, type Labels } from "../labels.ts";
import type { Aggregate } from "../syntax/expression.ts";
import type { Context } from "./context.ts";
import { formatPlain } from "./format-number.ts";
import { compareValues, compensatedSum, largestOf, meanOf, quantileOf, smallestOf, varianceOf } from "./go-math.ts";
import { VectorBuilder, type Value, type VectorSeries, type VectorValue } from "./value.ts";

interface Group {
  readonly labels: Labels;
  readonly members: VectorSeries[];
}

type Reduce = (values: readonly number[], parameter: number) => number;

const REDUCERS: ReadonlyMap<string, Reduce> = new Map<string, Reduce>([
  ["sum", compensatedSum],
  ["avg", meanOf],
  ["min", smallestOf],
  ["max", largestOf],
  ["count", (values) => values.length],
  ["group", () => 1],
  ["stddev", (values) => Math.sqrt(varianceOf(values))],
  ["stdvar", varianceOf],
  ["quantile", (values, parameter) => quantileOf(parameter, values)],
]);

/** Aggregates the series of each group at each step. */
export function evaluateAggregate(context: Context, aggregate: Aggregate, vector: VectorValue): VectorValue {
  const parameter = aggregate.parameter && context.evaluate(aggregate.parameter);
  context.budget.spend(vector.series.length * context.grid.count);
  const { operator } = aggregate;
  if (operator === "count_values") return countValues(context, aggregate, vector, parameter);
  const groups = groupSeries(vector, (labels) => groupLabels(aggregate, labels));
  if (operator === "topk" || operator === "bottomk") {
    return selectExtremes(context, groups, { counts: scalarsOf(parameter), isTop: operator === "topk" });
  }
  const reduce = REDUCERS.get(operator);
  return reduce
    ? reduceGroups(context, groups, (values, index) => reduce(values, scalarsOf(parameter)[index] ?? 0))
    : vector;
}

const NO_SCALARS = new Float64Array();

function scalarsOf(parameter: Value | undefined): Float64Array {
  return parameter?.type === "scalar" ? parameter.values : NO_SCALARS;
}

function groupLabels({ grouping, isWithout }: Aggregate, labels: Labels): Labels {
  return isWithout ? dropLabels(labels, new Set([...grouping, METRIC_NAME])) : keepLabels(labels, new Set(grouping));
}

function groupSeries({ series }: VectorValue, labelsOf: (labels: Labels) => Labels): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const member of series) {
    const labels = labelsOf(member.labels);
    const key = labelsKey(labels);
    const group = groups.get(key) ?? { labels, members: [] };
    group.members.push(member);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function reduceGroups(
  { grid, budget }: Context,
  groups: readonly Group[],
  reduce: (values: readonly number[], index: number) => number,
): VectorValue {
  const builder = new VectorBuilder(grid.count, budget);
  for (const { labels, members } of groups) {
    const out = builder.series(labels);
    for (let index = 0; index < grid.count; index += 1) {
      const values = members.flatMap(({ values, present }) => (present[index] === 1 ? [values[index] ?? 0] : []));
      if (values.length > 0) builder.set(out, index, reduce(values, index));
    }
  }
  return builder.build();
}

/** The k largest or smallest of each group, in this order; NaN comes last. */
function selectExtremes(
  { grid, budget }: Context,
  groups: readonly Group[],
  { counts, isTop }: { readonly counts: Float64Array; readonly isTop: boolean },
): VectorValue {
  const builder = new VectorBuilder(grid.count, budget);
  for (const { members } of groups) {
    for (let index = 0; index < grid.count; index += 1) {
      const count = counts[index] ?? 0;
      if (!Number.isFinite(count)) throw failedQuery(`Scalar value ${count} overflows int64`);
      const ranked = members
        .filter(({ present }) => present[index] === 1)
        .toSorted((one, other) => compareExtremes(one.values[index] ?? 0, other.values[index] ?? 0, isTop));
      for (const { labels, values } of ranked.slice(0, Math.max(0, Math.trunc(count)))) {
        builder.set(builder.series(labels), index, values[index] ?? 0);
      }
    }
  }
  return builder.build();
}

function compareExtremes(one: number, other: number, isTop: boolean): number {
  if (Number.isNaN(one) || Number.isNaN(other)) return -compareValues(one, other);
  return isTop ? other - one : one - other;
}

function countValues(
  context: Context,
  aggregate: Aggregate,
  { series }: VectorValue,
  label: Value | undefined,
): VectorValue {
  const name = label?.type === "string" ? label.value : "";
  if (!/^[a-zA-Z_]\w*$/.test(name)) throw failedQuery(`invalid label name ${JSON.stringify(name)}`);
  const grouped = aggregate.isWithout ? aggregate : { ...aggregate, grouping: [...aggregate.grouping, name] };
  const builder = new VectorBuilder(context.grid.count, context.budget);
  for (const { labels, values, present } of series) {
    for (let index = 0; index < context.grid.count; index += 1) {
      if (present[index] !== 1) continue;
      const counted = groupLabels(grouped, withLabel(labels, name, formatPlain(values[index] ?? 0)));
      const out = builder.series(counted);
      out.values[index] = (out.values[index] ?? 0) + 1;
      out.present[index] = 1;
    }
  }
  return builder.build();
}
