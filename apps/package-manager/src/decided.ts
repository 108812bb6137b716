import type { Awaitable } from "@oaas/foundation";
import { conflictOf } from "@oaas/storage";

/** Decides and writes again while others come in between: every decision is made on what it is written over. */
export async function decided<T>(work: () => Awaitable<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (conflictOf(thrown) === undefined) throw thrown;
    }
  }
}
