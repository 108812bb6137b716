import { Fault, type Clock } from "@oaas/foundation";

/** How long a part may be slow to answer before it is called failed. */
const SLOW_MS = 15_000;

/** What a part last said of itself. A machine that is busy makes it slow, which is not the same as failed. */
export class LastLook<T> {
  readonly #clock: Clock;
  #seen: { readonly value: T; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What it says now; when it does not answer in time, what it said last, if that was a moment ago. Throws otherwise. */
  async at(ask: () => Promise<T>): Promise<T> {
    try {
      const value = await ask();
      this.#seen = { value, atMs: this.#clock.monotonic() };
      return value;
    } catch (thrown) {
      const isSlow = Fault.from(thrown).kind === "deadline-exceeded";
      if (!isSlow || this.#seen === undefined || this.#clock.monotonic() - this.#seen.atMs > SLOW_MS) throw thrown;
      return this.#seen.value;
    }
  }

  /** Another one takes its place. */
  forget(): void {
    this.#seen = undefined;
  }
}
