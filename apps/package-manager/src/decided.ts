import { conflictOf } from "@oaas/storage";

/** Decides and writes again while others come in between: every decision is made on what it is written over. */
export async function decided<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (conflictOf(thrown) === undefined) throw thrown;
    }
  }
}
