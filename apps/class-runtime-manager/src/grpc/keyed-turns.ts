import { orAbort } from "@oaas/foundation";

/** One at a time per key, in the order of asking; different keys do not wait for each other. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Keys somebody works on or waits for. */
  get size(): number {
    return this.#last.size;
  }

  /** Does the work when those before it are done; gives up its turn when the signal aborts first. */
  async take<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const turn = before.then(() => done);
    this.#last.set(key, turn);
    try {
      await orAbort(before, signal);
      return await work();
    } finally {
      finish();
      void turn.then(() => {
        if (this.#last.get(key) === turn) this.#last.delete(key);
      });
    }
  }
}
