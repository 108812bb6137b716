export type Labels<L extends string> = Readonly<Record<L, string>>;

type LabelArguments<L extends string> = [L] extends [never] ? [] : [labels: Labels<L>];

/** A metric as declared, once, in a service's `telemetry.ts`. */
export interface MetricSpec<L extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
  /** Label values whose series are there from the start, at zero, so that a rate over them is right at once. */
  readonly startAtZero?: readonly Labels<L>[];
}

export interface HistogramSpec<L extends string = never> extends MetricSpec<L> {
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

/** Only goes up. */
export interface Counter<L extends string = never> {
  add(by: number, ...labels: LabelArguments<L>): void;
  /** One series of it, for paths so busy that to look it up would show. It must not be removed. */
  series(...labels: LabelArguments<L>): Pick<Counter, "add">;
  /** Forgets a series whose subject is gone. */
  remove(...labels: LabelArguments<L>): void;
}

/** Goes up and down. */
export interface Gauge<L extends string = never> {
  set(value: number, ...labels: LabelArguments<L>): void;
  add(by: number, ...labels: LabelArguments<L>): void;
  /** Forgets a series whose subject is gone. */
  remove(...labels: LabelArguments<L>): void;
}

/** Counts observations by size. */
export interface Histogram<L extends string = never> {
  observe(value: number, ...labels: LabelArguments<L>): void;
  /** One series of it, as `Counter.series`. */
  series(...labels: LabelArguments<L>): Pick<Histogram, "observe">;
  /** Forgets a series whose subject is gone. */
  remove(...labels: LabelArguments<L>): void;
}

/**
 * Makes instruments. The same declaration gives the same instrument; another one under a name that is taken, or a
 * name that is none, is a TypeError.
 */
export interface Meter {
  counter<const L extends string = never>(spec: MetricSpec<L>): Counter<L>;
  gauge<const L extends string = never>(spec: MetricSpec<L>): Gauge<L>;
  histogram<const L extends string = never>(spec: HistogramSpec<L>): Histogram<L>;
}

const nothing = (): void => undefined;

/** Measures nothing. */
export const NOOP_METER: Meter = {
  counter: () => ({ add: nothing, series: () => ({ add: nothing }), remove: nothing }),
  gauge: () => ({ set: nothing, add: nothing, remove: nothing }),
  histogram: () => ({ observe: nothing, series: () => ({ observe: nothing }), remove: nothing }),
};
