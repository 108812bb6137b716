import { backoffDelay, sleep, unavailable, type Ambient, type Fault } from "@oaas/foundation";
import { acquire, conflictOf, type Condition, type KeyValueStore, type Ownership } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";

/** Keys of live engines. */
const PREFIX = "o/saga-engines/";

/**
 * The lease of an engine: a store key that exists while the engine is alive.
 *
 * *Guarantees*: a new lease has a new key, so that sagas of the lost one are orphans until they are adopted; the `fence` of
 * one lease never holds under the next.
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

  /** Undefined without a lease. */
  get key(): string | undefined {
    return this.#ownership?.lease.lost.aborted === false ? this.#key : undefined;
  }

  /** Throws unavailable without a lease. */
  get fence(): Condition {
    return this.#held().fence;
  }

  assertAlive(): void {
    this.#held().lease.assertHeld();
  }

  /**
   * Whether a commit was rejected because the store no longer has the lease.
   *
   * The lease is then released here too, so that a new one is acquired.
   */
  isLeaseLost(thrown: unknown): boolean {
    if (this.#ownership === undefined || conflictOf(thrown)?.key !== this.#key) return false;
    this.#ownership.release().catch(() => undefined);
    return true;
  }

  /** Acquires a lease; retries until it succeeds or the signal aborts. Returns the signal of its loss. */
  async acquire(signal: AbortSignal): Promise<AbortSignal> {
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

  async release(): Promise<void> {
    await this.#ownership?.release();
  }

  #held(): Ownership {
    if (this.#ownership === undefined || this.#ownership.lease.lost.aborted) throw leaseLost();
    return this.#ownership;
  }
}

/** The fault of a request that arrives while the engine has no lease. */
export function leaseLost(cause?: unknown): Fault {
  return unavailable("the store", "this process lost its lease and is acquiring a new one; retry shortly", {
    retryAfterMs: 1_000,
    cause,
  });
}
