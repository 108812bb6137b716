import * as prom from "prom-client";
import { checkDeclaration, labelProblem, type DeclaredMetric, type MetricType } from "../metric-check.ts";
import type { Counter, Gauge, Histogram, HistogramSpec, Labels, Meter, MetricSpec } from "../meter.ts";
import type { MetricsFormat } from "../metrics-format.ts";
import type { SpanContext } from "../trace-context.ts";

export interface PrometheusMeterOptions {
  /** Throw on undeclared labels and invalid values, for development. By default both are dropped. */
  readonly strict?: boolean;
  /** Add CPU, memory, event loop and garbage collection metrics of this process. */
  readonly processMetrics?: boolean;
  /** Limit of series per metric. Further series are recorded with the value `overflow` for every label. */
  readonly maxSeries?: number;
  /** The span of the running work. If it is sampled, observations of histograms keep its ids as exemplars. */
  readonly currentSpan?: () => SpanContext | undefined;
}

/** A meter whose metrics can be served at `/metrics`. */
export interface PrometheusMeter extends Meter {
  /** Returns all metrics, by default in the Prometheus text format. */
  text(format?: MetricsFormat): Promise<string>;
}

type AnyLabels = Readonly<Record<string, string>>;

interface RegisteredMetric extends DeclaredMetric {
  readonly metric: prom.Counter | prom.Gauge | prom.Histogram;
  readonly series: SeriesLimit;
}

const DEFAULT_MAX_SERIES = 2000;

/** A meter with its own prom-client registry, so that services in one process do not share metrics. */
export function createPrometheusMeter(options: PrometheusMeterOptions = {}): PrometheusMeter {
  const { strict = false, maxSeries = DEFAULT_MAX_SERIES, currentSpan } = options;
  const registry = new prom.Registry();
  if (options.processMetrics === true) prom.collectDefaultMetrics({ register: registry });
  const registered = new Map<string, RegisteredMetric>();

  const register = <M extends RegisteredMetric["metric"]>(
    type: MetricType,
    spec: DeclaredMetric["spec"],
    create: (config: prom.MetricConfiguration<string>) => M,
  ): { readonly metric: M; readonly series: SeriesLimit } => {
    const existing = registered.get(spec.name);
    checkDeclaration({ type, spec }, existing);
    if (existing !== undefined) return { metric: existing.metric as M, series: existing.series };
    const { name, help, labels = [] } = spec;
    // Registered here: the constructor refuses exemplars in a registry of the text format, which omits them.
    const metric = create({ name, help, labelNames: [...labels], registers: [] });
    registry.registerMetric(metric);
    const series = new SeriesLimit(spec, { strict, maxSeries });
    registered.set(name, { type, spec, metric, series });
    return { metric, series };
  };
  const isValid = (spec: MetricSpec<string>, valid: boolean, value: number): boolean => {
    if (!valid && strict) throw new RangeError(`${value} is not a valid value for ${spec.name}`);
    return valid;
  };
  const isCountable = (spec: MetricSpec<string>, value: number): boolean =>
    isValid(spec, Number.isFinite(value) && value >= 0, value);

  return {
    text: (format = "prometheus") => (format === "openmetrics" ? openMetricsText(registry) : registry.metrics()),
    counter: <const L extends string = never>(spec: MetricSpec<L>): Counter<L> => {
      const { metric, series } = register("counter", spec, (config) => new prom.Counter(config));
      for (const labels of spec.startAtZero ?? []) metric.inc(series.admit(labels), 0);
      return {
        add: (by, labels?: Labels<L>) => {
          if (isCountable(spec, by)) metric.inc(series.admit(labels), by);
        },
        remove: (labels?: Labels<L>) => metric.remove(series.release(labels)),
      };
    },
    gauge: <const L extends string = never>(spec: MetricSpec<L>): Gauge<L> => {
      const { metric, series } = register("gauge", spec, (config) => new prom.Gauge(config));
      for (const labels of spec.startAtZero ?? []) metric.inc(series.admit(labels), 0);
      return {
        set: (value, labels?: Labels<L>) => {
          if (isValid(spec, Number.isFinite(value), value)) metric.set(series.admit(labels), value);
        },
        add: (by, labels?: Labels<L>) => {
          if (isValid(spec, Number.isFinite(by), by)) metric.inc(series.admit(labels), by);
        },
        remove: (labels?: Labels<L>) => metric.remove(series.release(labels)),
      };
    },
    histogram: <const L extends string = never>(spec: HistogramSpec<L>): Histogram<L> => {
      const { metric, series } = register(
        "histogram",
        spec,
        (config) => new prom.Histogram({ ...config, buckets: [...spec.buckets], enableExemplars: true }),
      );
      for (const labels of spec.startAtZero ?? []) if (!series.has(labels)) metric.zero(series.admit(labels));
      return {
        observe: (value, labels?: Labels<L>) => {
          if (!isCountable(spec, value)) return;
          const exemplarLabels = exemplarOf(currentSpan?.());
          metric.observe({ labels: series.admit(labels), value, ...(exemplarLabels && { exemplarLabels }) });
        },
        remove: (labels?: Labels<L>) => metric.remove(series.release(labels)),
      };
    },
  };
}

/** The labels of an exemplar; undefined for work without a trace. */
function exemplarOf(span: SpanContext | undefined): Record<string, string> | undefined {
  return span?.sampled === true ? { trace_id: span.traceId, span_id: span.spanId } : undefined;
}

/**
 * Renders a registry as OpenMetrics. In this format prom-client renames the counters that it renders, for good, so it gets
 * copies of them.
 */
function openMetricsText(registry: prom.Registry): Promise<string> {
  const open = new prom.Registry<prom.OpenMetricsContentType>();
  open.setContentType(prom.Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray()) open.registerMetric(asOpenMetric(metric as unknown as Rendered));
  return open.metrics();
}

/** What prom-client reads of a metric to render it. */
interface Rendered {
  readonly name: string;
  readonly type: string;
  get(): Promise<object>;
}

function asOpenMetric(metric: Rendered): prom.Metric {
  const name = metric.name.replace(/_total$/, "");
  const copy = { name, type: metric.type, get: async () => ({ ...(await metric.get()), name }) };
  return (metric.type === "counter" ? copy : metric) as unknown as prom.Metric;
}

/** Bounds the number of series of one metric, because prom-client keeps every combination of label values forever. */
class SeriesLimit {
  readonly #spec: MetricSpec<string>;
  readonly #strict: boolean;
  readonly #maxSeries: number;
  readonly #names: readonly string[];
  /** The labels of each series. */
  readonly #known = new Map<string, Record<string, string>>();

  constructor(spec: MetricSpec<string>, options: { readonly strict: boolean; readonly maxSeries: number }) {
    this.#spec = spec;
    this.#names = spec.labels ?? [];
    this.#strict = options.strict;
    this.#maxSeries = options.maxSeries;
  }

  has(labels: AnyLabels): boolean {
    return this.#known.has(this.#keyOf(labels));
  }

  /** Returns the labels to record a value under. */
  admit(labels: AnyLabels = {}): Record<string, string> {
    const key = this.#keyOf(labels);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#maxSeries) return this.#labelsBy(() => "overflow");
    const declared = this.#labelsBy((name) => labels[name] ?? "");
    this.#known.set(key, declared);
    return declared;
  }

  /** Returns the labels of a series to remove. */
  release(labels: AnyLabels = {}): Record<string, string> {
    this.#known.delete(this.#keyOf(labels));
    return this.#labelsBy((name) => labels[name] ?? "");
  }

  /** The values of the declared labels as one text, each after its length so that the text is unambiguous. */
  #keyOf(labels: AnyLabels): string {
    const problem = this.#strict ? labelProblem(this.#spec, labels) : undefined;
    if (problem !== undefined) throw new TypeError(problem);
    let key = "";
    for (const name of this.#names) {
      const value = labels[name] ?? "";
      key += `${value.length}:${value}`;
    }
    return key;
  }

  #labelsBy(valueOf: (name: string) => string): Record<string, string> {
    return Object.fromEntries(this.#names.map((name) => [name, valueOf(name)]));
  }
}
