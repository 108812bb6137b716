import { orAbort } from "@oaas/foundation";

/**
 * Bounded work per target: who waits, waits for its own target only.
 *
 * *Guarantees*: at most `width` pieces of work per lane at a time, in the order they came; a lane that hangs delays no other;
 * an abort ends the waiting.
 */
export class Lanes {
  readonly #width: number;
  readonly #lanes = new Map<string, { busy: number; readonly waiting: (() => void)[] }>();

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(lane: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(lane, signal);
    try {
      return await work();
    } finally {
      this.#leave(lane);
    }
  }

  async #enter(name: string, signal: AbortSignal): Promise<void> {
    const lane = this.#lanes.get(name) ?? { busy: 0, waiting: [] };
    this.#lanes.set(name, lane);
    if (lane.busy < this.#width) {
      lane.busy += 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.waiting.push(resolve);
    try {
      await orAbort(promise, signal);
    } catch (thrown) {
      const at = lane.waiting.indexOf(resolve);
      // The place was given in the same moment: it goes to the next.
      if (at < 0) this.#leave(name);
      else lane.waiting.splice(at, 1);
      throw thrown;
    }
  }

  #leave(name: string): void {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return;
    const next = lane.waiting.shift();
    if (next !== undefined) next();
    else if (lane.busy > 1) lane.busy -= 1;
    else this.#lanes.delete(name);
  }
}
