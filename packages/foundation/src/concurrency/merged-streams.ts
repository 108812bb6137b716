/**
 * Joins streams that may be added at any time. Each stream has at most one item waiting, so that a slow consumer slows
 * all of them and nothing piles up.
 */
export class MergedStreams<T> {
  readonly #waiting: { readonly item: T; readonly taken: () => void }[] = [];
  readonly #streams = new Set<AsyncIterator<T>>();
  #running = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  /** The number of streams that have not ended. */
  get running(): number {
    return this.#running;
  }

  add(stream: AsyncIterable<T>): void {
    this.#running += 1;
    void this.#pump(stream[Symbol.asyncIterator]());
  }

  /** The next item; undefined when the signal aborts, or when all streams ended. */
  async next(signal: AbortSignal): Promise<T | undefined> {
    while (!signal.aborted) {
      const first = this.#waiting.shift();
      if (first) {
        first.taken();
        return first.item;
      }
      if (this.#running === 0) return undefined;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener("abort", done);
          this.#wake = undefined;
          resolve();
        };
        this.#wake = done;
        signal.addEventListener("abort", done);
      });
    }
    return undefined;
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true;
    for (const { taken } of this.#waiting.splice(0)) taken();
    for (const stream of this.#streams) void stream.return?.().catch(() => undefined);
  }

  async #pump(stream: AsyncIterator<T>): Promise<void> {
    this.#streams.add(stream);
    try {
      for (;;) {
        const next = await stream.next();
        if (next.done === true || this.#isClosed) return;
        await new Promise<void>((taken) => {
          this.#waiting.push({ item: next.value, taken });
          this.#wake?.();
        });
      }
    } finally {
      this.#streams.delete(stream);
      this.#running -= 1;
      this.#wake?.();
    }
  }
}
