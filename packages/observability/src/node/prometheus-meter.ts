import * as prom from "prom-client";
import { checkDeclaration, labelProblem, type DeclaredMetric, type MetricType } from "../metric-check.ts";
import type { Counter, Gauge, Histogram, HistogramSpec, Labels, Meter, MetricSpec } from "../meter.ts";

type AnyLabels = Readonly<Record<string, string>>;
type Instrument = prom.Counter | prom.Gauge | prom.Histogram;

export interface PrometheusMeterOptions {
  /** Throws on labels that are not declared and on numbers that cannot be, as development wants; else they are left out. */
  readonly strict?: boolean;
  /** Adds CPU, memory, event loop and garbage collection of this process. */
  readonly processMetrics?: boolean;
  /** Most series of one metric. What would be another is counted under labels that all say `overflow`. */
  readonly maxSeries?: number;
}

/** A meter whose numbers `/metrics` can serve. */
export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  /** Everything measured, in the text format of Prometheus. */
  text(): Promise<string>;
}

const OVERFLOW = "overflow";
const DEFAULT_MAX_SERIES = 2000;

/** A meter on a registry of its own, so that two services in one process do not mix. */
export function createPrometheusMeter(options: PrometheusMeterOptions = {}): PrometheusMeter {
  const registry = new prom.Registry();
  const declared = new Map<string, DeclaredMetric & { readonly instrument: Instrument; readonly labels: LabelGate }>();
  if (options.processMetrics === true) prom.collectDefaultMetrics({ register: registry });

  const declare = <I extends Instrument>(type: MetricType, spec: DeclaredMetric["spec"], make: () => I) => {
    const existing = declared.get(spec.name);
    checkDeclaration({ type, spec }, existing);
    if (existing !== undefined) return { instrument: existing.instrument as I, labels: existing.labels };
    const entry = { type, spec, instrument: make(), labels: labelGate(spec, options) };
    declared.set(spec.name, entry);
    return entry;
  };
  /** A negative or absent number would break the library or every sum; it is the programmer's mistake. */
  const isCountable = (spec: MetricSpec<string>, value: number): boolean => {
    const fits = Number.isFinite(value) && value >= 0;
    if (!fits && options.strict === true) throw new RangeError(`${spec.name} cannot count ${value}`);
    return fits;
  };
  const configOf = (spec: MetricSpec<string>) => ({
    name: spec.name,
    help: spec.help,
    labelNames: [...(spec.labels ?? [])],
    registers: [registry],
  });

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter: <const L extends string = never>(spec: MetricSpec<L>): Counter<L> => {
      const { instrument, labels } = declare("counter", spec, () => {
        const made = new prom.Counter(configOf(spec));
        for (const start of spec.startAtZero ?? []) made.inc(start, 0);
        return made;
      });
      return {
        add: (by, given?: Labels<L>) => {
          if (isCountable(spec, by)) instrument.inc(labels.admit(given), by);
        },
        remove: (given?: Labels<L>) => instrument.remove(labels.forget(given)),
      };
    },
    gauge: <const L extends string = never>(spec: MetricSpec<L>): Gauge<L> => {
      const { instrument, labels } = declare("gauge", spec, () => {
        const made = new prom.Gauge(configOf(spec));
        for (const start of spec.startAtZero ?? []) made.set(start, 0);
        return made;
      });
      return {
        set: (value, given?: Labels<L>) => instrument.set(labels.admit(given), value),
        add: (by, given?: Labels<L>) => instrument.inc(labels.admit(given), by),
        remove: (given?: Labels<L>) => instrument.remove(labels.forget(given)),
      };
    },
    histogram: <const L extends string = never>(spec: HistogramSpec<L>): Histogram<L> => {
      const { instrument, labels } = declare("histogram", spec, () => {
        const made = new prom.Histogram({ ...configOf(spec), buckets: [...spec.buckets] });
        for (const start of spec.startAtZero ?? []) made.zero(start);
        return made;
      });
      return {
        observe: (value, given?: Labels<L>) => {
          if (isCountable(spec, value)) instrument.observe(labels.admit(given), value);
        },
        remove: (given?: Labels<L>) => instrument.remove(labels.forget(given)),
      };
    },
  };
}

/** Lets only declared labels through, and only so many different ones. */
interface LabelGate {
  admit(labels: AnyLabels | undefined): Record<string, string>;
  forget(labels: AnyLabels | undefined): Record<string, string>;
}

function labelGate(spec: MetricSpec<string>, options: PrometheusMeterOptions): LabelGate {
  const names = spec.labels ?? [];
  const maxSeries = options.maxSeries ?? DEFAULT_MAX_SERIES;
  const overflow = Object.fromEntries(names.map((name) => [name, OVERFLOW]));
  /** The labels of each series, made once: every request passes here. */
  const series = new Map<string, Record<string, string>>();
  for (const start of spec.startAtZero ?? []) series.set(keyOf(start), declaredOnly(start));

  function keyOf(labels: AnyLabels): string {
    let key = "";
    for (const name of names) key += `${labels[name] ?? ""}\u0000`;
    return key;
  }
  function declaredOnly(labels: AnyLabels): Record<string, string> {
    return Object.fromEntries(names.map((name) => [name, labels[name] ?? ""]));
  }
  const check = (labels: AnyLabels): void => {
    const problem = options.strict === true ? labelProblem(spec, labels) : undefined;
    if (problem !== undefined) throw new TypeError(problem);
  };
  return {
    admit: (labels = {}) => {
      check(labels);
      const key = keyOf(labels);
      const known = series.get(key);
      if (known !== undefined) return known;
      if (series.size >= maxSeries) return overflow;
      const wanted = declaredOnly(labels);
      series.set(key, wanted);
      return wanted;
    },
    forget: (labels = {}) => {
      check(labels);
      series.delete(keyOf(labels));
      return declaredOnly(labels);
    },
  };
}
