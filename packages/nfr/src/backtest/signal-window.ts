import type { ComponentSamples, Sample, Series, Signal } from "../samples.ts";

/** Moves a window over recorded samples: each sample is visited twice, whatever the number of ticks. */
export class SignalWindow {
  readonly #series: readonly { readonly signal: Signal; readonly samples: Series; from: number; to: number }[];

  constructor(signals: Readonly<Partial<Record<Signal, Series>>>) {
    this.#series = Object.entries(signals).map(([signal, samples]) => ({
      signal: signal as Signal,
      samples,
      from: 0,
      to: 0,
    }));
  }

  /** The samples of the time (`afterMs`, `untilMs`]; neither may go back. */
  moveTo(afterMs: number, untilMs: number): ComponentSamples {
    const signals: Partial<Record<Signal, Series>> = {};
    for (const window of this.#series) {
      const { samples } = window;
      while ((samples[window.to]?.atMs ?? Number.POSITIVE_INFINITY) <= untilMs) window.to += 1;
      while (window.from < window.to && (samples[window.from] as Sample).atMs <= afterMs) window.from += 1;
      if (window.to > window.from) signals[window.signal] = samples.slice(window.from, window.to);
    }
    return { signals, pods: {} };
  }
}

/** The newest value of a signal in a window. */
export function newestValue({ signals }: ComponentSamples, signal: Signal): number | undefined {
  return signals[signal]?.at(-1)?.value;
}
