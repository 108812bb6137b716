import type { HistogramSpec, MetricSpec } from "../meter.ts";
import type { MetricType } from "../metric-check.ts";
import { LabelSeries, type LabelSeriesOptions } from "./label-series.ts";

/** One line of the text format. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric as the registry of the Prometheus library asks for it when somebody reads. */
export interface PrometheusMetric {
  readonly name: string;
  get(): Promise<{
    readonly name: string;
    readonly help: string;
    readonly type: MetricType;
    readonly aggregator: "sum";
    readonly values: readonly Sample[];
  }>;
}

interface Amount {
  value: number;
}

/** A counter or a gauge: one number for each series. */
export class NumberMetric implements PrometheusMetric {
  readonly name: string;
  readonly series: LabelSeries<Amount>;
  readonly #spec: MetricSpec<string>;
  readonly #type: "counter" | "gauge";

  constructor(type: "counter" | "gauge", spec: MetricSpec<string>, options: LabelSeriesOptions) {
    this.name = spec.name;
    this.#spec = spec;
    this.#type = type;
    this.series = new LabelSeries(spec, options, () => ({ value: 0 }));
  }

  async get(): ReturnType<PrometheusMetric["get"]> {
    const values = this.series.all().map(({ labels, cell }) => ({ labels, value: cell.value }));
    return { name: this.name, help: this.#spec.help, type: this.#type, aggregator: "sum", values };
  }
}

/** How many observations fell between each two bounds; the last ones are above all. */
interface Distribution {
  readonly counts: Float64Array;
  sum: number;
}

/** Observations by size. */
export class HistogramMetric implements PrometheusMetric {
  readonly name: string;
  readonly series: LabelSeries<Distribution>;
  readonly #spec: HistogramSpec<string>;

  constructor(spec: HistogramSpec<string>, options: LabelSeriesOptions) {
    this.name = spec.name;
    this.#spec = spec;
    const size = spec.buckets.length + 1;
    this.series = new LabelSeries(spec, options, () => ({ counts: new Float64Array(size), sum: 0 }));
  }

  observe(value: number, distribution: Distribution): void {
    const { counts } = distribution;
    const { buckets } = this.#spec;
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    distribution.sum += value;
  }

  async get(): ReturnType<PrometheusMetric["get"]> {
    const values = this.series.all().flatMap(({ labels, cell }) => this.#samples(labels, cell));
    return { name: this.name, help: this.#spec.help, type: "histogram", aggregator: "sum", values };
  }

  #samples(labels: Sample["labels"], { counts, sum }: Distribution): Sample[] {
    let total = 0;
    const buckets = [...this.#spec.buckets, "+Inf"].map((le, index): Sample => {
      total += counts[index] ?? 0;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ];
  }
}
