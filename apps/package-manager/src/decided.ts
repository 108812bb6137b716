import type { Awaitable } from "@oaas/foundation";
import { conflictOf } from "@oaas/storage";
import type { Once } from "./use-cases.ts";

/**
 * Decides and writes again while others come in between: every decision is made on what it is written over. A request that another has
 * taken up is not ours to decide any more.
 */
export function decided<T>(work: () => Awaitable<T>, once?: Once): Awaitable<T> {
  const again = (thrown: unknown): Awaitable<T> => {
    const conflict = conflictOf(thrown);
    if (conflict === undefined || conflict.key === once?.key) throw thrown;
    return decided(work, once);
  };
  try {
    const done = work();
    return done instanceof Promise ? done.catch(again) : done;
  } catch (thrown) {
    return again(thrown);
  }
}
