import type { Labels } from "../labels.ts";
import type { SetOperator } from "../syntax/expression.ts";
import type { Context } from "./context.ts";
import { VectorBuilder, type VectorSeries, type VectorValue } from "./value.ts";

interface Operands {
  readonly left: VectorValue;
  readonly right: VectorValue;
  readonly signature: (labels: Labels) => string;
}

/** `and`, `or`, `unless`: by the presence of a series with the same signature on the other side. */
export function evaluateSetOperator(context: Context, operator: SetOperator, operands: Operands): VectorValue {
  const { left, right, signature } = operands;
  const builder = new VectorBuilder(context.grid.count, context.budget);
  const copy = (series: VectorSeries, isKept: (index: number) => boolean): void => {
    const out = builder.series(series.labels);
    for (const [index, isPresent] of series.present.entries()) {
      if (isPresent === 1 && isKept(index)) builder.set(out, index, series.values[index] ?? 0);
    }
  };
  if (operator === "or") {
    const taken = presence(context, left, signature);
    for (const series of left.series) copy(series, () => true);
    for (const series of right.series) {
      const others = taken.get(signature(series.labels));
      copy(series, (index) => others?.[index] !== 1);
    }
    return builder.build();
  }
  const others = presence(context, right, signature);
  for (const series of left.series) {
    const other = others.get(signature(series.labels));
    copy(series, (index) => (other?.[index] === 1) === (operator === "and"));
  }
  return builder.build();
}

/** Where any series of a signature is present. */
function presence(
  { grid, budget }: Context,
  { series }: VectorValue,
  signature: (labels: Labels) => string,
): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  budget.spend(series.length * grid.count);
  for (const { labels, present } of series) {
    const key = signature(labels);
    const union = found.get(key) ?? new Uint8Array(grid.count);
    found.set(key, union);
    for (let index = 0; index < grid.count; index += 1) union[index] ||= present[index] ?? 0;
  }
  return found;
}
