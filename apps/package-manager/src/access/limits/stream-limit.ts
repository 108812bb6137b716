import { Fault, KeyedLimit, type Limit } from "@oaas/foundation";

const RETRY_AFTER_MS = 10_000;

/** Limits the concurrent event streams of one caller. */
export class StreamLimit {
  readonly #streams: KeyedLimit;

  constructor(perCaller: Limit) {
    this.#streams = new KeyedLimit(perCaller);
  }

  /** Counts a stream; returns the function that counts its end. Throws resource-exhausted beyond the limit. */
  open(caller: string): () => void {
    const end = this.#streams.enter(caller);
    if (end) return end;
    throw new Fault(
      { kind: "resource-exhausted", limit: "event streams per caller", retryAfterMs: RETRY_AFTER_MS },
      `${caller} has ${this.#streams.limit} event streams, the most that SERVER_MAX_STREAMS allows; close one of them`,
    );
  }
}
