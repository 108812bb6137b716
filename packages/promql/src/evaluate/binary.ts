import { failedQuery } from "../errors.ts";
import {
  dropLabels,
  dropMetricName,
  formatLabels,
  keepLabels,
  labelsKey,
  labelValue,
  METRIC_NAME,
  withLabel,
  type Labels,
} from "../labels.ts";
import { isComparison, isSetOperator, type Binary, type BinaryOperator, type Matching } from "../syntax/expression.ts";
import type { Context } from "./context.ts";
import { goPow } from "./go-math.ts";
import { evaluateSetOperator } from "./set-operators.ts";
import {
  mapVector,
  VectorBuilder,
  type ScalarValue,
  type Value,
  type VectorSeries,
  type VectorValue,
} from "./value.ts";

type Operation = (left: number, right: number) => number;

/** Arithmetic gives the value, a comparison 1 or 0. */
const OPERATIONS: ReadonlyMap<BinaryOperator, Operation> = new Map<BinaryOperator, Operation>([
  ["+", (left, right) => left + right],
  ["-", (left, right) => left - right],
  ["*", (left, right) => left * right],
  ["/", (left, right) => left / right],
  ["%", (left, right) => left % right],
  ["^", goPow],
  ["atan2", Math.atan2],
  ["==", (left, right) => (left === right ? 1 : 0)],
  ["!=", (left, right) => (left === right ? 0 : 1)],
  [">", (left, right) => (left > right ? 1 : 0)],
  ["<", (left, right) => (left < right ? 1 : 0)],
  [">=", (left, right) => (left >= right ? 1 : 0)],
  ["<=", (left, right) => (left <= right ? 1 : 0)],
]);

/** The value of an operation on two samples; undefined where a comparison filters. `kept` is the value that passes. */
type Compute = (left: number, right: number, kept: number) => number | undefined;

export function evaluateBinary(context: Context, expr: Binary): Value {
  const left = context.evaluate(expr.left);
  const right = context.evaluate(expr.right);
  const operation = OPERATIONS.get(expr.operator);
  if (left.type === "vector" && right.type === "vector") {
    if (isSetOperator(expr.operator)) {
      return evaluateSetOperator(context, expr.operator, { left, right, signature: signatureOf(expr.matching) });
    }
    return matchVectors(context, expr, { left, right });
  }
  if (!operation || left.type === "string" || right.type === "string") {
    throw failedQuery(`operator "${expr.operator}" is not defined for these operands`);
  }
  if (left.type === "scalar" && right.type === "scalar") {
    const values = left.values.map((value, index) => operation(value, right.values[index] ?? 0));
    return { type: "scalar", values };
  }
  return left.type === "vector"
    ? combineWithScalar(context, expr, { vector: left, scalar: right as ScalarValue, isSwapped: false })
    : combineWithScalar(context, expr, { vector: right as VectorValue, scalar: left, isSwapped: true });
}

function createCompute({ operator, isBool }: Binary): Compute {
  const operation = OPERATIONS.get(operator) ?? (() => Number.NaN);
  if (!isComparison(operator) || isBool) return operation;
  return (left, right, kept) => (operation(left, right) === 1 ? kept : undefined);
}

/** Only a filter keeps the metric name. */
function dropsName({ operator, isBool }: Binary): boolean {
  return !isComparison(operator) || isBool;
}

interface WithScalar {
  readonly vector: VectorValue;
  readonly scalar: ScalarValue;
  readonly isSwapped: boolean;
}

function combineWithScalar(context: Context, expr: Binary, { vector, scalar, isSwapped }: WithScalar): VectorValue {
  const compute = createCompute(expr);
  return mapVector(vector, new VectorBuilder(context.grid.count, context.budget), {
    labels: dropsName(expr) ? dropMetricName : (labels) => labels,
    value: (value, index) => {
      const other = scalar.values[index] ?? 0;
      return isSwapped ? compute(other, value, value) : compute(value, other, value);
    },
  });
}

/** The part of the labels that must be equal on both sides. */
function signatureOf({ isOn, labels }: Matching): (labels: Labels) => string {
  const names = new Set(isOn ? labels : [...labels, METRIC_NAME]);
  return (of) => labelsKey(isOn ? keepLabels(of, names) : dropLabels(of, names));
}

interface Sides {
  readonly left: VectorValue;
  readonly right: VectorValue;
}

function matchVectors(context: Context, expr: Binary, { left, right }: Sides): VectorValue {
  const { matching } = expr;
  const isRightMany = matching.cardinality === "one-to-many";
  const signature = signatureOf(matching);
  const many = groupBySignature(isRightMany ? right : left, signature);
  const one = groupBySignature(isRightMany ? left : right, signature);
  const isLive = liveSteps(context, left, right);
  const compute = createCompute(expr);
  const matcher: PairMatcher = {
    builder: new VectorBuilder(context.grid.count, context.budget),
    isOneToOne: matching.cardinality === "one-to-one",
    compute: (own, other) => (isRightMany ? compute(other, own, other) : compute(own, other, own)),
    labels: (own, other) => resultLabels(expr, own, other),
  };
  for (const [key, ones] of one) {
    context.budget.spend(ones.length * context.grid.count);
    const present = uniquePresent(ones, isLive, matching, isRightMany ? "left" : "right");
    const owners = many.get(key);
    if (owners) matchGroup(matcher, owners, present);
  }
  return matcher.builder.build();
}

function groupBySignature({ series }: VectorValue, signature: (labels: Labels) => string): Map<string, VectorSeries[]> {
  return Map.groupBy(series, ({ labels }) => signature(labels));
}

/** The steps at which both sides have series; at others nothing is matched, and nothing can be ambiguous. */
function liveSteps({ grid, budget }: Context, left: VectorValue, right: VectorValue): (index: number) => boolean {
  const union = ({ series }: VectorValue): Uint8Array => {
    const present = new Uint8Array(grid.count);
    budget.spend(series.length * grid.count);
    for (const one of series)
      for (let index = 0; index < grid.count; index += 1) present[index] ||= one.present[index] ?? 0;
    return present;
  };
  const [ofLeft, ofRight] = [union(left), union(right)];
  return (index) => ofLeft[index] === 1 && ofRight[index] === 1;
}

/** The only series of the one side at each step. */
function uniquePresent(
  ones: readonly VectorSeries[],
  isLive: (index: number) => boolean,
  { isOn, labels }: Matching,
  side: string,
): readonly (VectorSeries | undefined)[] {
  const found: (VectorSeries | undefined)[] = Array.from({ length: ones[0]?.values.length ?? 0 });
  for (const series of ones) {
    for (const [index, isPresent] of series.present.entries()) {
      const other = found[index];
      if (isPresent !== 1) continue;
      if (other && isLive(index)) {
        const names = new Set(isOn ? labels : [...labels, METRIC_NAME]);
        const group = formatLabels(isOn ? keepLabels(series.labels, names) : dropLabels(series.labels, names));
        throw failedQuery(
          `found duplicate series for the match group ${group} on the ${side} hand-side of the operation: [${formatLabels(series.labels)}, ${formatLabels(other.labels)}];many-to-many matching not allowed: matching labels must be unique on one side`,
        );
      }
      found[index] = series;
    }
  }
  return found;
}

interface PairMatcher {
  readonly builder: VectorBuilder;
  readonly isOneToOne: boolean;
  readonly compute: (own: number, other: number) => number | undefined;
  readonly labels: (own: Labels, other: Labels) => Labels;
}

function matchGroup(
  matcher: PairMatcher,
  owners: readonly VectorSeries[],
  ones: readonly (VectorSeries | undefined)[],
): void {
  const { builder, isOneToOne } = matcher;
  const isMatched = new Uint8Array(ones.length);
  for (const owner of owners) {
    const outputs = new Map<VectorSeries, VectorSeries>();
    for (const [index, one] of ones.entries()) {
      if (!one || owner.present[index] !== 1) continue;
      const value = matcher.compute(owner.values[index] ?? 0, one.values[index] ?? 0);
      if (value === undefined) continue;
      if (isOneToOne && isMatched[index] === 1) {
        throw failedQuery(
          "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
        );
      }
      isMatched[index] = 1;
      const out = outputs.get(one) ?? builder.series(matcher.labels(owner.labels, one.labels));
      outputs.set(one, out);
      if (!isOneToOne && out.present[index] === 1) {
        throw failedQuery("multiple matches for labels: grouping labels must ensure unique matches");
      }
      builder.set(out, index, value);
    }
  }
}

function resultLabels(expr: Binary, own: Labels, other: Labels): Labels {
  const { matching } = expr;
  const kept = dropsName(expr) ? dropMetricName(own) : own;
  const names = new Set(matching.labels);
  if (matching.cardinality === "one-to-one") return matching.isOn ? keepLabels(kept, names) : dropLabels(kept, names);
  return matching.include.reduce((labels, name) => withLabel(labels, name, labelValue(other, name)), kept);
}
