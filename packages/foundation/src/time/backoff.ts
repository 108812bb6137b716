import { abortFault } from "./deadline.ts";
import { Fault } from "../faults/fault.ts";
import type { Random } from "../random.ts";
import { sleep, type Timers } from "./time.ts";

/** Exponential growth from `baseMs` to `capMs`, spread by `jitter` (0 none, 1 anywhere between 0 and the full delay). */
export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
  readonly factor: number;
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: BackoffPolicy = { baseMs: 100, capMs: 30_000, factor: 2, jitter: 0.5 };

/** How long to wait before try number `attempt` is repeated (the first try is 0). */
export function backoffDelay(policy: BackoffPolicy, attempt: number, random: Random): number {
  const full = Math.min(policy.capMs, policy.baseMs * policy.factor ** Math.min(attempt, 64));
  return full * (1 - policy.jitter * random.next());
}

export interface RetryOptions {
  readonly timers: Timers;
  readonly random: Random;
  /** Tries after the first. */
  readonly retries: number;
  readonly policy?: BackoffPolicy;
  readonly signal?: AbortSignal;
  /** Told before each wait: what failed, which try it was, how long the wait will be. */
  readonly onRetry?: (fault: Fault, attempt: number, delayMs: number) => void;
}

/**
 * Repeats `work` while its fault is retryable.
 *
 * Guarantees: a fault that is not retryable is thrown at once; a server's `retryAfterMs` is waited for at least;
 * the last fault is thrown when the tries are used up; an abort ends the waiting with the signal's fault.
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
        askedDelayMs(fault),
      );
      options.onRetry?.(fault, attempt, delayMs);
      await sleep(options.timers, delayMs, options.signal);
    }
  }
}

function askedDelayMs(fault: Fault): number {
  const { detail } = fault;
  return (detail.kind === "unavailable" || detail.kind === "resource-exhausted") && detail.retryAfterMs !== undefined
    ? detail.retryAfterMs
    : 0;
}
