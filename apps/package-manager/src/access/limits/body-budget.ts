import { Fault, limitValue, unavailable, type Limit } from "@oaas/foundation";

/** A share of the budget that belongs to one request. */
export interface BodyClaim {
  /** Raises the claim to this many bytes; throws a fault with the time to wait when the budget does not allow it. */
  growTo(bytes: number): void;
  /** Returns the share. Repeatable. */
  release(): void;
}

const RETRY_AFTER_MS = 1_000;

/** Limits the bytes of request bodies in memory, in total. One caller may claim half of them. */
export class BodyBudget {
  readonly #limit: Limit;
  readonly #claimed = new Map<string, number>();
  #total = 0;

  constructor(maxBytes: Limit) {
    this.#limit = maxBytes;
  }

  get #maxBytes(): number {
    return limitValue(this.#limit);
  }

  open(caller: string): BodyClaim {
    let own = 0;
    return {
      growTo: (bytes) => {
        if (bytes <= own) return;
        this.#assertAvailable(caller, bytes - own);
        this.#add(caller, bytes - own);
        own = bytes;
      },
      release: () => {
        this.#add(caller, -own);
        own = 0;
      },
    };
  }

  #assertAvailable(caller: string, bytes: number): void {
    const half = this.#maxBytes / 2;
    if ((this.#claimed.get(caller) ?? 0) + bytes > half)
      throw new Fault(
        { kind: "resource-exhausted", limit: "request bodies per caller", retryAfterMs: RETRY_AFTER_MS },
        `the request bodies of ${caller} exceed ${half} bytes, half of SERVER_MAX_BODIES_BYTES; send fewer at a time`,
      );
    if (this.#total + bytes > this.#maxBytes)
      throw unavailable(
        "request bodies",
        `the request bodies of all callers exceed SERVER_MAX_BODIES_BYTES (${this.#maxBytes}); retry later`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
  }

  #add(caller: string, bytes: number): void {
    this.#total += bytes;
    const claimed = (this.#claimed.get(caller) ?? 0) + bytes;
    if (claimed === 0) this.#claimed.delete(caller);
    else this.#claimed.set(caller, claimed);
  }
}
