import { cancelled, deadlineExceeded, Fault } from "../faults/fault.ts";
import type { Clock, Timers } from "./time.ts";

/** A signal that aborts after a timeout or when the caller cancels. Dispose it when the work is done. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Returns the remaining time, never negative. */
  remainingMs(): number;
}

/**
 * Starts a deadline of `afterMs` that also follows the caller's signal.
 *
 * Guarantees: the reason of the signal is always a `Fault`: deadline-exceeded, the caller's fault, or cancelled.
 */
export function startDeadline(
  ambient: { readonly clock: Clock; readonly timers: Timers },
  afterMs: number,
  parent?: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const endsAt = ambient.clock.monotonic() + afterMs;
  const timer = ambient.timers.after(Math.max(0, afterMs), () => controller.abort(deadlineExceeded(afterMs)));
  const onParentAbort = (): void => {
    timer.cancel();
    controller.abort(abortFault(parent as AbortSignal));
  };
  if (parent?.aborted) onParentAbort();
  else parent?.addEventListener("abort", onParentAbort, { once: true });
  return {
    signal: controller.signal,
    remainingMs: () => Math.max(0, endsAt - ambient.clock.monotonic()),
    [Symbol.dispose]: () => {
      timer.cancel();
      parent?.removeEventListener("abort", onParentAbort);
    },
  };
}

/** Returns the fault of an aborted signal. */
export function abortFault(signal: AbortSignal): Fault {
  return signal.reason instanceof Fault ? signal.reason : cancelled({ cause: signal.reason });
}

/** Settles like `work`, or rejects with the signal's fault when it aborts. Does not stop the work. */
export async function orAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    work.catch(() => undefined);
    throw abortFault(signal);
  }
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortFault(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}
