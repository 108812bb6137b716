/**
 * Time as ports. Nothing outside an adapter touches the real clock or the real timers, so that a whole
 * platform can run on virtual time from one seed (design, deterministic simulation).
 */
export interface Clock {
  /** Milliseconds since the epoch; may jump. For timestamps. */
  now(): number;
  /** Milliseconds since some fixed point; never goes back. For measuring. */
  monotonic(): number;
}

/** A timer that has been set. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Timers {
  /** Calls back once after `delayMs`. */
  after(delayMs: number, callback: () => void): Timer;
}

/** RFC 3339 in UTC with milliseconds: the one form of a timestamp in JSON. */
export function timestamp(epochMs: number): string {
  if (epochMs !== last.epochMs) last = { epochMs, text: new Date(epochMs).toISOString() };
  return last.text;
}

/** What happens at once is stamped in several places: a log line, a record, an event. */
let last = { epochMs: 0, text: new Date(0).toISOString() };

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function sleep(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = timers.after(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
