export type Labels<L extends string> = Readonly<Record<L, string>>;

type LabelArguments<L extends string> = [L] extends [never] ? [] : [labels: Labels<L>];

/** Declaration of a metric. Services declare theirs in `telemetry.ts`. */
export interface MetricSpec<L extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
  /** Series to create with the value 0, so that rates are correct from the first increment. */
  readonly startAtZero?: readonly Labels<L>[];
}

export interface HistogramSpec<L extends string = never> extends MetricSpec<L> {
  /** Upper bounds in ascending order. */
  readonly buckets: readonly number[];
}

/** A value that only increases. */
export interface Counter<L extends string = never> {
  add(by: number, ...labels: LabelArguments<L>): void;
  /** Removes the series of a deleted object. */
  remove(...labels: LabelArguments<L>): void;
}

/** A value that increases and decreases. */
export interface Gauge<L extends string = never> {
  set(value: number, ...labels: LabelArguments<L>): void;
  add(by: number, ...labels: LabelArguments<L>): void;
  /** Removes the series of a deleted object. */
  remove(...labels: LabelArguments<L>): void;
}

/** Counts observations in buckets. */
export interface Histogram<L extends string = never> {
  observe(value: number, ...labels: LabelArguments<L>): void;
  /** Removes the series of a deleted object. */
  remove(...labels: LabelArguments<L>): void;
}

/**
 * Creates metrics. The same declaration returns the same metric. Throws a TypeError for an invalid name and for a
 * declaration that differs from an existing one of the same name.
 */
export interface Meter {
  counter<const L extends string = never>(spec: MetricSpec<L>): Counter<L>;
  gauge<const L extends string = never>(spec: MetricSpec<L>): Gauge<L>;
  histogram<const L extends string = never>(spec: HistogramSpec<L>): Histogram<L>;
}

const ignore = (): void => undefined;

/** Records nothing. */
export const NOOP_METER: Meter = {
  counter: () => ({ add: ignore, remove: ignore }),
  gauge: () => ({ set: ignore, add: ignore, remove: ignore }),
  histogram: () => ({ observe: ignore, remove: ignore }),
};
