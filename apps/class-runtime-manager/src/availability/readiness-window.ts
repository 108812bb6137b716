import type { Clock } from "@oaas/foundation";

/** Readiness of class runtimes over the window. */
export interface Readiness {
  /** Share of time in the ready state; undefined without class runtimes. */
  readonly ratio: number | undefined;
  /** Observed time of all class runtimes in total, in milliseconds. */
  readonly observedMs: number;
  readonly windowMs: number;
  /** Number of changes. */
  readonly samples: number;
}

interface Slice {
  readonly from: number;
  readyMs: number;
  totalMs: number;
  samples: number;
}

/** Time-weighted readiness over a sliding window. Frequent changes do not distort it, and its memory is constant. */
export class ReadinessWindow {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #sliceMs: number;
  #slices: Slice[] = [];
  #ready = 0;
  #total = 0;
  #at: number;

  constructor(clock: Clock, windowMs = 3_600_000, slices = 60) {
    this.#clock = clock;
    this.#windowMs = windowMs;
    this.#sliceMs = windowMs / slices;
    this.#at = clock.monotonic();
  }

  /** Sets the current number of ready and of all class runtimes. */
  set(ready: number, total: number): void {
    this.#advance();
    if (ready === this.#ready && total === this.#total) return;
    this.#ready = ready;
    this.#total = total;
    this.#slice(this.#at).samples += 1;
  }

  /** Reads the window that ends now. */
  read(): Readiness {
    this.#advance();
    const sum = (part: "readyMs" | "totalMs" | "samples"): number =>
      this.#slices.reduce((total, slice) => total + slice[part], 0);
    const observedMs = sum("totalMs");
    return {
      ratio: observedMs === 0 ? undefined : sum("readyMs") / observedMs,
      observedMs,
      windowMs: this.#windowMs,
      samples: sum("samples"),
    };
  }

  /** Adds the time since the last update to the slices and drops slices older than the window. */
  #advance(): void {
    const now = this.#clock.monotonic();
    let from = Math.max(this.#at, now - this.#windowMs);
    while (from < now) {
      const slice = this.#slice(from);
      const until = Math.min(now, slice.from + this.#sliceMs);
      slice.readyMs += (until - from) * this.#ready;
      slice.totalMs += (until - from) * this.#total;
      from = until;
    }
    this.#at = now;
    this.#slices = this.#slices.filter((slice) => slice.from + this.#sliceMs > now - this.#windowMs);
  }

  #slice(at: number): Slice {
    const from = Math.floor(at / this.#sliceMs) * this.#sliceMs;
    const last = this.#slices.at(-1);
    if (last !== undefined && last.from >= from) return last;
    const slice = { from, readyMs: 0, totalMs: 0, samples: 0 };
    this.#slices.push(slice);
    return slice;
  }
}
