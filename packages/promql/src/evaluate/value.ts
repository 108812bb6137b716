import { failedQuery } from "../errors.ts";
import { labelsKey, type Labels } from "../labels.ts";
import type { Budget } from "./context.ts";

/** One series of an instant vector, with a value for each time at which it is present. */
export interface VectorSeries {
  readonly labels: Labels;
  readonly values: Float64Array;
  /** 1 where there is a value; NaN is a value too. */
  readonly present: Uint8Array;
}

export interface ScalarValue {
  readonly type: "scalar";
  readonly values: Float64Array;
}

export interface VectorValue {
  readonly type: "vector";
  readonly series: readonly VectorSeries[];
}

export interface StringValue {
  readonly type: "string";
  readonly value: string;
}

export type Value = ScalarValue | VectorValue | StringValue;

/** Collects the values of a result; series with equal labels become one, and must not overlap. */
export class VectorBuilder {
  readonly #series = new Map<string, VectorSeries>();
  readonly #count: number;
  readonly #budget: Budget;

  constructor(count: number, budget: Budget) {
    this.#count = count;
    this.#budget = budget;
  }

  series(labels: Labels): VectorSeries {
    const key = labelsKey(labels);
    const known = this.#series.get(key);
    if (known) return known;
    this.#budget.spend(this.#count);
    const created = { labels, values: new Float64Array(this.#count), present: new Uint8Array(this.#count) };
    this.#series.set(key, created);
    return created;
  }

  set({ values, present }: VectorSeries, index: number, value: number): void {
    if (present[index] === 1) throw failedQuery("vector cannot contain metrics with the same labelset");
    values[index] = value;
    present[index] = 1;
  }

  build(): VectorValue {
    return { type: "vector", series: [...this.#series.values()].filter(({ present }) => present.includes(1)) };
  }
}

/** Changes the labels of each series and its values; undefined drops a value. */
export function mapVector(
  { series }: VectorValue,
  builder: VectorBuilder,
  change: {
    readonly labels: (labels: Labels) => Labels;
    readonly value: (value: number, index: number) => number | undefined;
  },
): VectorValue {
  for (const { labels, values, present } of series) {
    const out = builder.series(change.labels(labels));
    for (const [index, isPresent] of present.entries()) {
      const value = isPresent === 1 ? change.value(values[index] ?? 0, index) : undefined;
      if (value !== undefined) builder.set(out, index, value);
    }
  }
  return builder.build();
}
