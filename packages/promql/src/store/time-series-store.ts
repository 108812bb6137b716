import { resourceExhausted } from "@oaas/foundation";
import { labelsFrom, labelsKey, labelValue, METRIC_NAME, type Labels } from "../labels.ts";
import { matchesValue } from "../syntax/parse-parts.ts";
import type { Matcher } from "../syntax/expression.ts";
import { RingSeries, type SampleSlice } from "./ring-series.ts";

export interface StoreLimits {
  /** Default 10,000. */
  readonly maxSeries?: number;
  /** Default 4,000: more than five hours at 5 s. */
  readonly maxSamplesPerSeries?: number;
  /** Default one hour. */
  readonly retentionMs?: number;
}

/** A series of the store as queries read it. */
export interface StoredSeries {
  readonly labels: Labels;
  /** The samples from `fromMs` to `toMs`, both included. */
  slice(fromMs: number, toMs: number): SampleSlice;
}

/** Time series in memory, bounded in number, samples and age. */
export class TimeSeriesStore {
  readonly #maxSeries: number;
  readonly #maxSamples: number;
  readonly #retentionMs: number;
  readonly #series = new Map<string, RingSeries>();
  /** The keys of the series of each metric. */
  readonly #byName = new Map<string, Set<string>>();

  constructor({ maxSeries = 10_000, maxSamplesPerSeries = 4000, retentionMs = 3_600_000 }: StoreLimits = {}) {
    this.#maxSeries = maxSeries;
    this.#maxSamples = maxSamplesPerSeries;
    this.#retentionMs = retentionMs;
  }

  get size(): number {
    return this.#series.size;
  }

  /** Returns false, and changes nothing, for a sample that is not newer than the last one of its series. */
  append(labels: Readonly<Record<string, string>> | Labels, atMs: number, value: number): boolean {
    const sorted = labelsFrom(labels);
    const key = labelsKey(sorted);
    const series = this.#series.get(key) ?? this.#create(key, sorted, atMs);
    if (!series.append(atMs, value, false)) return false;
    series.dropBefore(atMs - this.#retentionMs);
    return true;
  }

  /** Marks that a series ended, such as of a deleted pod: instant queries do not look back over the mark. */
  end(labels: Readonly<Record<string, string>> | Labels, atMs: number): boolean {
    const series = this.#series.get(labelsKey(labelsFrom(labels)));
    return series !== undefined && !series.isEnded && series.append(atMs, 0, true);
  }

  /** The series that match all conditions. */
  select(matchers: readonly Matcher[]): readonly StoredSeries[] {
    return [...this.#candidates(matchers)].filter(({ labels }) =>
      matchers.every((matcher) => matchesValue(matcher, labelValue(labels, matcher.label))),
    );
  }

  /** Forgets samples and series older than the retention. */
  prune(nowMs: number): void {
    const before = nowMs - this.#retentionMs;
    for (const [key, series] of this.#series) {
      series.dropBefore(before);
      if (series.length === 0) this.#remove(key, series);
    }
  }

  #create(key: string, labels: Labels, atMs: number): RingSeries {
    if (this.#series.size >= this.#maxSeries) this.prune(atMs);
    if (this.#series.size >= this.#maxSeries) {
      throw resourceExhausted("time series", `the store has its maximum of ${this.#maxSeries} time series`);
    }
    const series = new RingSeries(labels, this.#maxSamples);
    this.#series.set(key, series);
    const name = labelValue(labels, METRIC_NAME);
    const keys = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, keys.add(key));
    return series;
  }

  #remove(key: string, { labels }: RingSeries): void {
    this.#series.delete(key);
    const name = labelValue(labels, METRIC_NAME);
    const keys = this.#byName.get(name);
    keys?.delete(key);
    if (keys?.size === 0) this.#byName.delete(name);
  }

  *#candidates(matchers: readonly Matcher[]): Iterable<RingSeries> {
    const name = matchers.find(({ label, operator }) => label === METRIC_NAME && operator === "=");
    if (!name) {
      yield* this.#series.values();
      return;
    }
    for (const key of this.#byName.get(name.value) ?? []) {
      const series = this.#series.get(key);
      if (series) yield series;
    }
  }
}
