import * as prom from "prom-client";
import { checkDeclaration, type DeclaredMetric, type MetricType } from "../metric-check.ts";
import type { Counter, Gauge, Histogram, HistogramSpec, Labels, Meter, MetricSpec } from "../meter.ts";
import { HistogramMetric, NumberMetric, type PrometheusMetric } from "./prometheus-metrics.ts";

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

const DEFAULT_MAX_SERIES = 2000;

/**
 * A meter on a registry of its own, so that two services in one process do not mix. The library brings the process metrics and writes the
 * text; what is measured is kept here, because its own instruments cost a request more than all else that is written down about it.
 */
export function createPrometheusMeter(options: PrometheusMeterOptions = {}): PrometheusMeter {
  const { strict = false, maxSeries = DEFAULT_MAX_SERIES } = options;
  const registry = new prom.Registry();
  const declared = new Map<string, DeclaredMetric & { readonly metric: PrometheusMetric }>();
  if (options.processMetrics === true) prom.collectDefaultMetrics({ register: registry });

  const declare = <M extends PrometheusMetric>(type: MetricType, spec: DeclaredMetric["spec"], make: () => M): M => {
    const existing = declared.get(spec.name);
    checkDeclaration({ type, spec }, existing);
    if (existing !== undefined) return existing.metric as M;
    const metric = make();
    declared.set(spec.name, { type, spec, metric });
    registry.registerMetric(metric as unknown as prom.Metric);
    return metric;
  };
  /** A number that is none would break every sum; it is the programmer's mistake. */
  const isNumber = (spec: MetricSpec<string>, fits: boolean, value: number): boolean => {
    if (!fits && strict) throw new RangeError(`${spec.name} cannot be ${value}`);
    return fits;
  };
  const isCountable = (spec: MetricSpec<string>, value: number): boolean =>
    isNumber(spec, Number.isFinite(value) && value >= 0, value);
  const numbers = (type: "counter" | "gauge", spec: MetricSpec<string>): NumberMetric["series"] =>
    declare(type, spec, () => new NumberMetric(type, spec, { strict, maxSeries })).series;

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter: <const L extends string = never>(spec: MetricSpec<L>): Counter<L> => {
      const series = numbers("counter", spec);
      return {
        add: (by, labels?: Labels<L>) => {
          if (isCountable(spec, by)) series.of(labels).value += by;
        },
        series: (labels?: Labels<L>) => {
          const amount = series.of(labels);
          return {
            add: (by) => {
              if (isCountable(spec, by)) amount.value += by;
            },
          };
        },
        remove: (labels?: Labels<L>) => series.remove(labels),
      };
    },
    gauge: <const L extends string = never>(spec: MetricSpec<L>): Gauge<L> => {
      const series = numbers("gauge", spec);
      return {
        set: (value, labels?: Labels<L>) => {
          if (isNumber(spec, Number.isFinite(value), value)) series.of(labels).value = value;
        },
        add: (by, labels?: Labels<L>) => {
          if (isNumber(spec, Number.isFinite(by), by)) series.of(labels).value += by;
        },
        remove: (labels?: Labels<L>) => series.remove(labels),
      };
    },
    histogram: <const L extends string = never>(spec: HistogramSpec<L>): Histogram<L> => {
      const metric = declare("histogram", spec, () => new HistogramMetric(spec, { strict, maxSeries }));
      return {
        observe: (value, labels?: Labels<L>) => {
          if (isCountable(spec, value)) metric.observe(value, metric.series.of(labels));
        },
        series: (labels?: Labels<L>) => {
          const distribution = metric.series.of(labels);
          return {
            observe: (value) => {
              if (isCountable(spec, value)) metric.observe(value, distribution);
            },
          };
        },
        remove: (labels?: Labels<L>) => metric.series.remove(labels),
      };
    },
  };
}
