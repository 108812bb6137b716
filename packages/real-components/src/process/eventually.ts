import { unavailable } from "@oaas/foundation";

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** What is awaited; shown when it does not happen. */
  readonly what?: string;
}

const POLL_MS = 20;

/**
 * Waits until `probe` neither throws nor answers `false`, and returns its answer.
 *
 * Guarantees: tries at least once, and ends after `timeoutMs` (60 s) with a fault that says what was awaited and carries
 * the last thing the probe threw.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 60_000, what = "the awaited state" } = options;
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const answer = await attempt(probe);
    if (answer.done) return answer.value;
    if (performance.now() >= endsAt) {
      const why = answer.thrown === undefined ? "" : `; last: ${(answer.thrown as Error).message ?? answer.thrown}`;
      throw unavailable(what, `${what} did not come about within ${timeoutMs} ms${why}`, { cause: answer.thrown });
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
