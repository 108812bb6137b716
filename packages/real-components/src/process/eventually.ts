import { unavailable } from "@oaas/foundation";

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** Description of the awaited state, for the error message. */
  readonly what?: string;
}

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;

/**
 * Waits until `probe` neither throws nor returns `false`, and returns its result.
 *
 * Guarantees: tries at least once, and fails after `timeoutMs` (60 s) with a fault that contains the last error. Pauses
 * twice as long as the attempt took, and longer the longer it waits, so that waiting leaves the processor to others.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 60_000, what = "the awaited state" } = options;
  const startedAt = performance.now();
  const endsAt = startedAt + timeoutMs;
  for (;;) {
    const triedAt = performance.now();
    const result = await attempt(probe);
    if (result.done) return result.value;
    if (performance.now() >= endsAt) {
      const lastError =
        result.thrown === undefined ? "" : `; last: ${(result.thrown as Error).message ?? result.thrown}`;
      throw unavailable(what, `${what} was not reached within ${timeoutMs} ms${lastError}`, { cause: result.thrown });
    }
    const now = performance.now();
    const pauseMs = pauseAfter({ attemptMs: now - triedAt, waitedMs: now - startedAt });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** The pause before the next attempt. */
export function pauseAfter({ attemptMs, waitedMs }: { readonly attemptMs: number; readonly waitedMs: number }): number {
  return Math.min(Math.max(MIN_PAUSE_MS, 2 * attemptMs, waitedMs / 10), MAX_PAUSE_MS);
}

type Attempt<T> =
  | { readonly done: true; readonly value: Exclude<T, false> }
  | { readonly done: false; readonly thrown?: unknown };

async function attempt<T>(probe: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    const value = await probe();
    return value === false ? { done: false } : { done: true, value: value as Exclude<T, false> };
  } catch (thrown) {
    return { done: false, thrown };
  }
}
