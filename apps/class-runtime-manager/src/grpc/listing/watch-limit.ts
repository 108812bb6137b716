import { limitValue, resourceExhausted, type Limit } from "@oaas/foundation";

/** One caller holds at most this part of all watch calls, so that it cannot lock out the others. */
const SHARE_OF_CALLER = 1 / 4;

/** Limits concurrent watch calls, in total and for each caller. */
export class WatchLimit {
  readonly #limit: Limit;
  readonly #running = new Map<string, number>();
  #count = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Counts a call until the returned function is called. Throws resource-exhausted at a limit. */
  enter(caller: string): () => void {
    const total = limitValue(this.#limit);
    const ofCaller = this.#running.get(caller) ?? 0;
    if (this.#count >= total) {
      throw resourceExhausted("watchers", `the limit of ${total} watch calls is reached; try again later`);
    }
    if (ofCaller >= Math.ceil(total * SHARE_OF_CALLER)) {
      const message = `${caller} has ${ofCaller} watch calls, a quarter of OPRC_CRM_LIMITS_WATCHERS; end one of them`;
      throw resourceExhausted("watchers per caller", message);
    }
    this.#count += 1;
    this.#running.set(caller, ofCaller + 1);
    return () => this.#leave(caller);
  }

  #leave(caller: string): void {
    this.#count -= 1;
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left === 0) this.#running.delete(caller);
    else this.#running.set(caller, left);
  }
}
