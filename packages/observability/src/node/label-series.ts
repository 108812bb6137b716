import { labelProblem } from "../metric-check.ts";
import type { MetricSpec } from "../meter.ts";

export type AnyLabels = Readonly<Record<string, string>>;

export interface LabelSeriesOptions {
  /** Throws on labels that are not declared, as development wants; else they are left out. */
  readonly strict: boolean;
  /** Most series. What would be another goes to one whose labels all say `overflow`. */
  readonly maxSeries: number;
}

interface Series<Cell> {
  readonly labels: AnyLabels;
  readonly cell: Cell;
}

const OVERFLOW = "overflow";
const NO_LABELS: AnyLabels = {};

/** What is measured under each combination of labels. Made once for each, because every request passes here. */
export class LabelSeries<Cell> {
  readonly #spec: MetricSpec<string>;
  readonly #options: LabelSeriesOptions;
  readonly #newCell: () => Cell;
  readonly #names: readonly string[];
  readonly #series = new Map<string, Series<Cell>>();
  #overflow: Series<Cell> | undefined;

  constructor(spec: MetricSpec<string>, options: LabelSeriesOptions, newCell: () => Cell) {
    this.#spec = spec;
    this.#options = options;
    this.#newCell = newCell;
    this.#names = spec.labels ?? [];
    // A series without labels is there from the start.
    for (const start of this.#names.length === 0 ? [NO_LABELS] : (spec.startAtZero ?? [])) this.of(start);
  }

  of(labels: AnyLabels = NO_LABELS): Cell {
    this.#check(labels);
    const key = this.#keyOf(labels);
    return (this.#series.get(key) ?? this.#add(key, labels)).cell;
  }

  remove(labels: AnyLabels = NO_LABELS): void {
    this.#check(labels);
    this.#series.delete(this.#keyOf(labels));
  }

  /** All of them, as they came. */
  all(): readonly Series<Cell>[] {
    return [...this.#series.values(), ...(this.#overflow ? [this.#overflow] : [])];
  }

  #add(key: string, labels: AnyLabels): Series<Cell> {
    if (this.#series.size >= this.#options.maxSeries)
      return (this.#overflow ??= this.#seriesOf(Object.fromEntries(this.#names.map((name) => [name, OVERFLOW]))));
    const series = this.#seriesOf(labels);
    this.#series.set(key, series);
    return series;
  }

  #seriesOf(labels: AnyLabels): Series<Cell> {
    return {
      labels: Object.fromEntries(this.#names.map((name) => [name, labels[name] ?? ""])),
      cell: this.#newCell(),
    };
  }

  #keyOf(labels: AnyLabels): string {
    const names = this.#names;
    if (names.length === 1) return labels[names[0] as string] ?? "";
    let key = "";
    for (const name of names) key += `${labels[name] ?? ""}\u0000`;
    return key;
  }

  #check(labels: AnyLabels): void {
    const problem = this.#options.strict ? labelProblem(this.#spec, labels) : undefined;
    if (problem !== undefined) throw new TypeError(problem);
  }
}
