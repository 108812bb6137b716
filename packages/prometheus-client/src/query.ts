/** A query over a range of time, at a fixed step. */
export interface RangeQuery {
  readonly expression: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** A query at one time. */
export interface InstantQuery {
  readonly expression: string;
  /** Default: the time of the server. */
  readonly atMs?: number;
}

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Covers all attempts and the delays between them. Default: the timeout of the client. */
  readonly deadlineMs?: number;
}

/** A time series with its labels. Samples are in ascending order of time, and their values are finite. */
export interface LabelledSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly { readonly atMs: number; readonly value: number }[];
}

export interface QueryResult {
  readonly series: readonly LabelledSeries[];
  /** Warnings of the server, such as a store of Thanos that did not respond. */
  readonly warnings: readonly string[];
  /** Whether the server says that series may be missing. */
  readonly isPartial: boolean;
  /** Values that are no numbers to compute with: NaN, infinite, native histograms. */
  readonly droppedSamples: number;
  /** Series that occur more than once, by their labels. None of them is in `series`, because their values are ambiguous. */
  readonly duplicates: readonly string[];
}

/** Whether the server answers queries. */
export type PrometheusHealth =
  | { readonly isHealthy: true; readonly latencyMs: number; readonly warnings: readonly string[] }
  | { readonly isHealthy: false; readonly reason: string };

/** Formats labels as PromQL does: `name{a="1"}`, sorted by label name. */
export function seriesName(labels: Readonly<Record<string, string>>): string {
  const { __name__: name = "", ...others } = labels;
  const pairs = Object.keys(others)
    .sort()
    .map((label) => `${label}=${JSON.stringify(others[label])}`);
  return `${name}{${pairs.join(",")}}`;
}
