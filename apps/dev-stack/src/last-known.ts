import { Fault, type Clock } from "@oaas/foundation";

/** How long a component may time out before it counts as failed. */
const MAX_AGE_MS = 15_000;

/** The last known value of a component. On a busy machine a read may time out although the component is fine. */
export class LastKnown<T> {
  readonly #clock: Clock;
  #last: { readonly value: T; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a new value, or the last one if the read times out and the last one is recent. Throws otherwise. */
  async read(readValue: () => Promise<T>): Promise<T> {
    try {
      const value = await readValue();
      this.#last = { value, atMs: this.#clock.monotonic() };
      return value;
    } catch (thrown) {
      const isSlow = Fault.from(thrown).kind === "deadline-exceeded";
      if (!isSlow || this.#last === undefined || this.#clock.monotonic() - this.#last.atMs > MAX_AGE_MS) throw thrown;
      return this.#last.value;
    }
  }

  /** Drops the last value, because the component is replaced. */
  clear(): void {
    this.#last = undefined;
  }
}
