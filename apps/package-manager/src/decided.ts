import { conflictOf } from "@oaas/storage";
import type { Once } from "./use-cases.ts";

/**
 * Decides and writes again while others come in between: every decision is made on what it is written over. A request that another has
 * taken up is not ours to decide any more.
 */
export async function decided<T>(work: () => Promise<T>, once?: Once): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const conflict = conflictOf(thrown);
      if (conflict === undefined || conflict.key === once?.key) throw thrown;
    }
  }
}
