import type { Awaitable } from "@oaas/foundation";
import { conflictOf } from "@oaas/storage";

/** Decides and writes again while others come in between: every decision is made on what it is written over. */
export function decided<T>(work: () => Awaitable<T>): Awaitable<T> {
  const again = (thrown: unknown): Awaitable<T> => {
    if (conflictOf(thrown) === undefined) throw thrown;
    return decided(work);
  };
  try {
    const done = work();
    return done instanceof Promise ? done.catch(again) : done;
  } catch (thrown) {
    return again(thrown);
  }
}
