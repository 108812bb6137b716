import { orAbort, resourceExhausted } from "@oaas/foundation";

/**
 * So many at once, and so many waiting.
 *
 * *Guarantees*: first come, first served; whoever gives up while waiting takes no place; one too many is refused at once, so that a hung
 * peer cannot fill the memory with waiters.
 */
export class Slots {
  readonly #what: string;
  readonly #most: number;
  readonly #mostWaiting: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(what: string, most: number, mostWaiting: number) {
    this.#what = what;
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Waits for a place and gives the way to leave it, which may be called twice. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (this.#taken < this.#most) return this.#enter();
    if (this.#waiting.size >= this.#mostWaiting) {
      throw resourceExhausted(
        this.#what,
        `${this.#most} calls to ${this.#what} are under way and ${this.#mostWaiting} wait`,
      );
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await orAbort(promise, signal);
    } catch (thrown) {
      // The place may have been given at the very moment of giving up.
      if (!this.#waiting.delete(resolve)) this.#leave();
      throw thrown;
    }
    return this.#leaveOnce();
  }

  #enter(): () => void {
    this.#taken += 1;
    return this.#leaveOnce();
  }

  #leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  /** Hands the place to the next in line, if there is one. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
