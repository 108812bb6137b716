import { resourceExhausted } from "@oaas/foundation";

/** Limits the running calls of each caller. */
export class CallerLimit {
  readonly #limit: number;
  readonly #running = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a call until the returned function is called. Throws resource-exhausted at the limit. */
  enter(caller: string): () => void {
    const running = this.#running.get(caller) ?? 0;
    if (running >= this.#limit) {
      const message = `${caller} has ${running} running calls, the limit per caller; try again later`;
      throw resourceExhausted("running calls per caller", message);
    }
    this.#running.set(caller, running + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = (this.#running.get(caller) ?? 1) - 1;
      if (left === 0) this.#running.delete(caller);
      else this.#running.set(caller, left);
    };
  }
}
