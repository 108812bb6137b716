import type { Buckets } from "./buckets.ts";
import { exp2 } from "./exp2.ts";

/** Weights are renormalised when a factor would exceed 2 to the power of this. */
const MAX_EXPONENT = 100;

/** The zero time of Go, the first of January of year 1: half-lives are counted from it. */
const ZERO_TIME_MS = -62_135_596_800_000;

export interface HistogramOptions {
  readonly buckets: Buckets;
  readonly halfLifeMs: number;
  /** A bucket with less weight counts as empty. */
  readonly epsilon: number;
}

/** A histogram as plain JSON. Weights are exact, so that a restart does not change a percentile. */
export interface HistogramCheckpoint {
  readonly referenceMs: number;
  readonly totalWeight: number;
  /** Bucket index → weight, where it is not 0. */
  readonly weights: Readonly<Record<string, number>>;
}

/**
 * A distribution in which a sample loses half of its weight with every half-life. Percentiles equal those
 * of the vertical pod autoscaler.
 */
export class DecayingHistogram {
  readonly #options: HistogramOptions;
  readonly #weights: Float64Array;
  #totalWeight = 0;
  /** The first and the last bucket that are not empty. */
  #first: number;
  #last = 0;
  /** Weights are relative to this time, a whole number of half-lives. */
  #referenceMs = ZERO_TIME_MS;

  constructor(options: HistogramOptions) {
    this.#options = options;
    this.#weights = new Float64Array(options.buckets.starts.length);
    this.#first = this.#weights.length - 1;
  }

  add(value: number, weight: number, atMs: number): void {
    const bucket = this.#options.buckets.indexOf(value);
    const decayed = weight * this.#decayFactor(atMs);
    const sum = this.#weightOf(bucket) + decayed;
    this.#weights[bucket] = sum;
    this.#totalWeight += decayed;
    if (sum < this.#options.epsilon) return;
    this.#first = Math.min(this.#first, bucket);
    this.#last = Math.max(this.#last, bucket);
  }

  /** Removes a sample that was added with the same arguments. */
  subtract(value: number, weight: number, atMs: number): void {
    const bucket = this.#options.buckets.indexOf(value);
    const decayed = weight * this.#decayFactor(atMs);
    const { epsilon } = this.#options;
    this.#totalWeight = subtractDownToZero(this.#totalWeight, decayed, epsilon);
    this.#weights[bucket] = subtractDownToZero(this.#weightOf(bucket), decayed, epsilon);
    this.#narrow();
  }

  /** The end of the bucket in which the percentile lies; 0 when the histogram is empty. */
  percentile(share: number): number {
    if (this.isEmpty()) return 0;
    const threshold = share * this.#totalWeight;
    let bucket = this.#first;
    let sum = 0;
    for (; bucket < this.#last; bucket++) {
      sum += this.#weightOf(bucket);
      if (sum >= threshold) break;
    }
    const { starts } = this.#options.buckets;
    return starts[Math.min(bucket + 1, starts.length - 1)] ?? 0;
  }

  isEmpty(): boolean {
    return this.#weightOf(this.#first) < this.#options.epsilon;
  }

  save(): HistogramCheckpoint {
    const weights: Record<string, number> = {};
    for (const [bucket, weight] of this.#weights.entries()) if (weight > 0) weights[bucket] = weight;
    return { referenceMs: this.#referenceMs, totalWeight: this.#totalWeight, weights };
  }

  /** Undefined when the checkpoint does not fit the buckets. */
  static load(options: HistogramOptions, checkpoint: HistogramCheckpoint): DecayingHistogram | undefined {
    const histogram = new DecayingHistogram(options);
    for (const [key, weight] of Object.entries(checkpoint.weights)) {
      const bucket = Number(key);
      if (!histogram.#hasBucket(bucket) || weight < 0) return undefined;
      histogram.#weights[bucket] = weight;
    }
    histogram.#totalWeight = checkpoint.totalWeight;
    histogram.#referenceMs = checkpoint.referenceMs;
    histogram.#first = 0;
    histogram.#last = histogram.#weights.length - 1;
    histogram.#narrow();
    return histogram;
  }

  #hasBucket(bucket: number): boolean {
    return Number.isInteger(bucket) && bucket >= 0 && bucket < this.#weights.length;
  }

  #weightOf(bucket: number): number {
    return this.#weights[bucket] ?? 0;
  }

  #decayFactor(atMs: number): number {
    if (atMs > this.#referenceMs + MAX_EXPONENT * this.#options.halfLifeMs) this.#shiftReference(atMs);
    return exp2((atMs - this.#referenceMs) / this.#options.halfLifeMs);
  }

  /** Moves the reference to the half-life nearest to the time. Percentiles stay the same. */
  #shiftReference(atMs: number): void {
    const { halfLifeMs } = this.#options;
    const next = ZERO_TIME_MS + Math.floor((atMs - ZERO_TIME_MS) / halfLifeMs + 0.5) * halfLifeMs;
    const factor = 2 ** Math.floor((this.#referenceMs - next) / halfLifeMs + 0.5);
    for (let bucket = this.#first; bucket <= this.#last; bucket++)
      this.#weights[bucket] = this.#weightOf(bucket) * factor;
    this.#totalWeight *= factor;
    this.#referenceMs = next;
    this.#narrow();
  }

  /** Excludes buckets at both ends that have become empty. */
  #narrow(): void {
    const { epsilon } = this.#options;
    while (this.#weightOf(this.#first) < epsilon && this.#first < this.#weights.length - 1) this.#first++;
    while (this.#weightOf(this.#last) < epsilon && this.#last > 0) this.#last--;
  }
}

function subtractDownToZero(value: number, decrease: number, epsilon: number): number {
  const difference = value - decrease;
  return difference < epsilon ? 0 : difference;
}
