import { abortFault } from "./deadline.ts";
import { Fault } from "../faults/fault.ts";
import type { Random } from "./ambient.ts";
import { sleep, type Timers } from "./time.ts";

/** Exponential backoff from `baseMs` to `capMs`. `jitter` is the random share of the delay: 0 none, 1 all of it. */
export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
  readonly factor: number;
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: BackoffPolicy = { baseMs: 100, capMs: 30_000, factor: 2, jitter: 0.5 };

/** Returns the delay after attempt number `attempt`; the first attempt is 0. */
export function backoffDelay(policy: BackoffPolicy, attempt: number, random: Random): number {
  const full = Math.min(policy.capMs, policy.baseMs * policy.factor ** Math.min(attempt, 64));
  return full * (1 - policy.jitter * random.next());
}

export interface RetryOptions {
  readonly timers: Timers;
  readonly random: Random;
  /** Attempts after the first. */
  readonly retries: number;
  readonly policy?: BackoffPolicy;
  readonly signal?: AbortSignal;
  /** Called before each wait. */
  readonly onRetry?: (fault: Fault, attempt: number, delayMs: number) => void;
}

/**
 * Repeats `work` while its fault is retryable.
 *
 * Guarantees: throws a fault that is not retryable immediately, and the last fault after the last attempt; waits at
 * least the `retryAfterMs` of a fault; an abort ends the wait with the signal's fault.
 */
export async function retry<T>(options: RetryOptions, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    if (options.signal?.aborted) throw abortFault(options.signal);
    try {
      return await work(attempt);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!fault.retryable || attempt >= options.retries) throw fault;
      const delayMs = Math.max(
        backoffDelay(options.policy ?? DEFAULT_BACKOFF, attempt, options.random),
        requestedDelayMs(fault),
      );
      options.onRetry?.(fault, attempt, delayMs);
      await sleep(options.timers, delayMs, options.signal);
    }
  }
}

function requestedDelayMs(fault: Fault): number {
  const { detail } = fault;
  return (detail.kind === "unavailable" || detail.kind === "resource-exhausted") && detail.retryAfterMs !== undefined
    ? detail.retryAfterMs
    : 0;
}
