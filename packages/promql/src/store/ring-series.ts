import type { Labels } from "../labels.ts";

/** Samples in ascending order of time. Stale markers are flagged, and their values are meaningless. */
export interface SampleSlice {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** 1 for a marker that the series ended. */
  readonly stale: Uint8Array;
}

const FIRST_CAPACITY = 16;

/** The newest samples of one series in a ring buffer that grows to its maximum. */
export class RingSeries {
  readonly labels: Labels;
  readonly #maxSamples: number;
  #times = new Float64Array(FIRST_CAPACITY);
  #values = new Float64Array(FIRST_CAPACITY);
  #stale = new Uint8Array(FIRST_CAPACITY);
  #head = 0;
  #length = 0;

  constructor(labels: Labels, maxSamples: number) {
    this.labels = labels;
    this.#maxSamples = maxSamples;
  }

  get length(): number {
    return this.#length;
  }

  /** The time of the newest sample; -Infinity when there is none. */
  get lastMs(): number {
    return this.#length === 0 ? -Infinity : this.#timeAt(this.#length - 1);
  }

  get isEnded(): boolean {
    return this.#length > 0 && this.#stale[this.#slot(this.#length - 1)] === 1;
  }

  /** Returns false for a sample that is not newer than the last one. */
  append(atMs: number, value: number, isStale: boolean): boolean {
    if (atMs <= this.lastMs) return false;
    if (this.#length === this.#times.length && this.#length < this.#maxSamples) this.#grow();
    if (this.#length === this.#times.length) this.#dropOldest(1);
    const slot = this.#slot(this.#length);
    this.#times[slot] = atMs;
    this.#values[slot] = value;
    this.#stale[slot] = isStale ? 1 : 0;
    this.#length += 1;
    return true;
  }

  /** Forgets samples before a time. */
  dropBefore(atMs: number): void {
    this.#dropOldest(this.#indexAfter(atMs - 1));
  }

  /** Copies the samples from `fromMs` to `toMs`, both included. */
  slice(fromMs: number, toMs: number): SampleSlice {
    const first = this.#indexAfter(fromMs - 1);
    const count = Math.max(0, this.#indexAfter(toMs) - first);
    return {
      times: this.#copy(this.#times, first, count),
      values: this.#copy(this.#values, first, count),
      stale: this.#copy(this.#stale, first, count),
    };
  }

  #copy<T extends Float64Array | Uint8Array>(from: T, first: number, count: number): T {
    const start = this.#slot(first);
    const whole = from.slice(start, start + count) as T;
    if (whole.length === count) return whole;
    const joined = (from instanceof Uint8Array ? new Uint8Array(count) : new Float64Array(count)) as T;
    joined.set(whole);
    joined.set(from.subarray(0, count - whole.length), whole.length);
    return joined;
  }

  #slot(index: number): number {
    return (this.#head + index) % this.#times.length;
  }

  #timeAt(index: number): number {
    return this.#times[this.#slot(index)] ?? -Infinity;
  }

  /** The number of samples at or before a time. */
  #indexAfter(atMs: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#timeAt(middle) <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropOldest(count: number): void {
    this.#head = this.#slot(count);
    this.#length -= count;
  }

  #grow(): void {
    const { times, values, stale } = this.slice(-Infinity, Infinity);
    const capacity = Math.min(this.#times.length * 2, this.#maxSamples);
    this.#times = new Float64Array(capacity);
    this.#values = new Float64Array(capacity);
    this.#stale = new Uint8Array(capacity);
    this.#times.set(times);
    this.#values.set(values);
    this.#stale.set(stale);
    this.#head = 0;
  }
}
