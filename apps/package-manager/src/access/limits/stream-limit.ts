import { Fault } from "@oaas/foundation";

const RETRY_AFTER_MS = 10_000;

/** Limits the concurrent event streams of one caller. */
export class StreamLimit {
  readonly #perCaller: number;
  readonly #open = new Map<string, number>();

  constructor(perCaller: number) {
    this.#perCaller = perCaller;
  }

  /** Counts a stream; returns the function that counts its end. Throws resource-exhausted beyond the limit. */
  open(caller: string): () => void {
    const count = this.#open.get(caller) ?? 0;
    if (count >= this.#perCaller)
      throw new Fault(
        { kind: "resource-exhausted", limit: "event streams per caller", retryAfterMs: RETRY_AFTER_MS },
        `${caller} has ${count} event streams, the most that SERVER_MAX_STREAMS allows; close one of them`,
      );
    this.#open.set(caller, count + 1);
    return () => this.#close(caller);
  }

  #close(caller: string): void {
    const left = (this.#open.get(caller) ?? 0) - 1;
    if (left > 0) this.#open.set(caller, left);
    else this.#open.delete(caller);
  }
}
