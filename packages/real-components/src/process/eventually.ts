import { unavailable } from "@oaas/foundation";

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** Description of the awaited state, for the error message. */
  readonly what?: string;
}

const POLL_MS = 20;

/**
 * Waits until `probe` neither throws nor returns `false`, and returns its result.
 *
 * Guarantees: tries at least once, and fails after `timeoutMs` (60 s) with a fault that contains the last error.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 60_000, what = "the awaited state" } = options;
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const result = await attempt(probe);
    if (result.done) return result.value;
    if (performance.now() >= endsAt) {
      const lastError =
        result.thrown === undefined ? "" : `; last: ${(result.thrown as Error).message ?? result.thrown}`;
      throw unavailable(what, `${what} was not reached within ${timeoutMs} ms${lastError}`, { cause: result.thrown });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
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
