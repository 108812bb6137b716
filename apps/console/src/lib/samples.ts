export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** Measurements since a page was opened: the API has only the newest of each. Bounded per series. */
export class SampleHistory {
  readonly #limit: number;
  readonly #series = new Map<string, readonly Sample[]>();

  constructor(limit = 360) {
    this.#limit = limit;
  }

  /** Adds a measurement once, whatever the number of times it is read. */
  add(series: string, sample: Sample): void {
    const known = this.#series.get(series) ?? [];
    if (known.some(({ atMs }) => atMs >= sample.atMs)) return;
    this.#series.set(series, [...known, sample].slice(-this.#limit));
  }

  of(series: string): readonly Sample[] {
    return this.#series.get(series) ?? [];
  }
}
