/**
 * Time as a port. Only adapters use the real clock and timers, so that the whole platform can run on virtual time from
 * one seed (deterministic simulation).
 */
export interface Clock {
  /** Milliseconds since the epoch; may jump. For timestamps. */
  now(): number;
  /** Milliseconds since a fixed point; never decreases. For durations. */
  monotonic(): number;
}

/** A scheduled timer. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

export interface Timers {
  /** Calls `callback` once after `delayMs`. */
  after(delayMs: number, callback: () => void): Timer;
}

/** Formats a timestamp for JSON: RFC 3339 in UTC with milliseconds. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts. */
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
