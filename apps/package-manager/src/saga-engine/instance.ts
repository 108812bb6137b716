import { backoffDelay, sleep, unavailable, type Ambient, type Fault } from "@oaas/foundation";
import { acquire, conflictOf, type Condition, type KeyValueStore, type Ownership } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";

/** Keys of engines that are alive. */
const PREFIX = "o/saga-engines/";

/**
 * This engine's life in the eyes of the store: a key of its own on a lease.
 *
 * *Guarantees*: a lost life is followed by a new one under another key, so that what the old one began belongs to nobody until it is
 * adopted; `fence` of one life never holds in the next.
 */
export class EngineInstance {
  readonly #store: KeyValueStore;
  readonly #ambient: Ambient;
  readonly #leaseMs: number;
  #ownership: Ownership | undefined;
  #key = "";

  constructor(store: KeyValueStore, ambient: Ambient, leaseMs: number) {
    this.#store = store;
    this.#ambient = ambient;
    this.#leaseMs = leaseMs;
  }

  /** Undefined between two lives. */
  get key(): string | undefined {
    return this.#ownership?.lease.lost.aborted === false ? this.#key : undefined;
  }

  /** OAAS_UNAVAILABLE between two lives. */
  get fence(): Condition {
    return this.#held().fence;
  }

  assertAlive(): void {
    this.#held().lease.assertHeld();
  }

  /**
   * Whether a commit was refused because this life is over in the eyes of the store.
   *
   * Then it is given up here as well, so that a new one begins even if nobody else ever says so.
   */
  isLeaseLost(thrown: unknown): boolean {
    if (this.#ownership === undefined || conflictOf(thrown)?.key !== this.#key) return false;
    this.#ownership.release().catch(() => undefined);
    return true;
  }

  /** Begins a life; tries until the store lets it or the signal aborts. Answers the signal that ends it. */
  async begin(signal: AbortSignal): Promise<AbortSignal> {
    for (let attempt = 0; ; attempt += 1) {
      this.#key = PREFIX + this.#ambient.ids.uuid();
      try {
        const request = { key: this.#key, owner: this.#key, ttlMs: this.#leaseMs };
        const acquired = await acquire(this.#store, request, { signal });
        if (acquired.owned) {
          this.#ownership = acquired.ownership;
          return acquired.ownership.lease.lost;
        }
      } catch (thrown) {
        if (signal.aborted) throw thrown;
      }
      await sleep(this.#ambient.timers, backoffDelay(BACKOFF.sagaLease, attempt, this.#ambient.random), signal);
    }
  }

  async end(): Promise<void> {
    await this.#ownership?.release();
  }

  #held(): Ownership {
    if (this.#ownership === undefined || this.#ownership.lease.lost.aborted) throw leaseLost();
    return this.#ownership;
  }
}

/** What a caller is told who comes between two lives. */
export function leaseLost(cause?: unknown): Fault {
  return unavailable("the store", "this process has lost its lease on the store and is getting a new one", {
    retryAfterMs: 1_000,
    cause,
  });
}
