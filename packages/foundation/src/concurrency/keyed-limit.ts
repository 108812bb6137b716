import { limitValue, type Limit } from "./limit.ts";

/** Limits the concurrent uses of each key. */
export class KeyedLimit {
  readonly #limit: Limit;
  readonly #uses = new Map<string, number>();

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  get limit(): number {
    return limitValue(this.#limit);
  }

  /** Counts a use until the returned function is called, once or repeatedly; undefined at the limit. */
  enter(key: string): (() => void) | undefined {
    const uses = this.#uses.get(key) ?? 0;
    if (uses >= this.limit) return undefined;
    this.#uses.set(key, uses + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#leave(key);
    };
  }

  #leave(key: string): void {
    const left = (this.#uses.get(key) ?? 0) - 1;
    if (left > 0) this.#uses.set(key, left);
    else this.#uses.delete(key);
  }
}
