import { orAbort, sleep, startDeadline, type Clock, type Fault, type Timers } from "@oaas/foundation";
import { leaseLostFault } from "../port/store-faults.ts";
import type { CallOptions, Lease, LeaseId } from "../port/key-value-store.ts";

/** Operations of a backend on a lease. */
export interface LeaseActions {
  /** Renews once. Resolves to the new time to live; undefined if the lease no longer exists. */
  renew(signal: AbortSignal): Promise<number | undefined>;
  revoke(options: CallOptions | undefined): Promise<void>;
  /** Called once, when the lease has ended. */
  ended(): void;
}

export interface GrantedLease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Monotonic time before the request was sent: the store cannot have started the lease earlier. */
  readonly requestedAt: number;
  readonly keepAlive: boolean;
}

/** Share of the time to live that is reserved for clock drift. */
const SAFETY = 0.1;

/**
 * Renews a lease, for every backend.
 *
 * Guarantees: renews after each third of the time to live. A renewal counts from when it was *sent*, so `lost` aborts
 * before the store can end the lease. A hanging renewal is cancelled and repeated. `lost` aborts immediately when the
 * store reports that the lease no longer exists.
 */
export class LeaseRenewer implements Lease {
  readonly id: LeaseId;
  #ttlMs: number;
  #expiresAt: number;
  #expiryTimer: { cancel(): void } | undefined;
  #cause: unknown;
  readonly #lost = new AbortController();
  readonly #ambient: { readonly clock: Clock; readonly timers: Timers };
  readonly #actions: LeaseActions;

  constructor(
    ambient: { readonly clock: Clock; readonly timers: Timers },
    granted: GrantedLease,
    actions: LeaseActions,
  ) {
    this.id = granted.id;
    this.#ttlMs = granted.ttlMs;
    this.#ambient = ambient;
    this.#actions = actions;
    this.#expiresAt = granted.requestedAt + granted.ttlMs;
    this.#scheduleExpiry();
    if (granted.keepAlive) void this.#keepAlive(granted.requestedAt);
  }

  get ttlMs(): number {
    return this.#ttlMs;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  assertHeld(): void {
    if (!this.lost.aborted && this.#ambient.clock.monotonic() >= this.#safeUntil()) this.#expire();
    if (this.lost.aborted) throw this.lost.reason as Fault;
  }

  async revoke(options?: CallOptions): Promise<void> {
    this.markLost("revoked by its owner");
    await this.#actions.revoke(options);
  }

  /** Aborts `lost`. Only the first call has an effect. */
  markLost(reason: string, cause?: unknown): void {
    if (this.lost.aborted) return;
    this.#expiryTimer?.cancel();
    this.#lost.abort(leaseLostFault(this.id, reason, cause));
    this.#actions.ended();
  }

  #safeUntil(): number {
    return this.#expiresAt - this.#ttlMs * SAFETY;
  }

  #scheduleExpiry(): void {
    this.#expiryTimer?.cancel();
    const delay = Math.max(0, this.#safeUntil() - this.#ambient.clock.monotonic());
    this.#expiryTimer = this.#ambient.timers.after(delay, () => this.#expire());
  }

  #expire(): void {
    this.markLost("not renewed in time", this.#cause);
  }

  async #keepAlive(requestedAt: number): Promise<void> {
    let nextAt = requestedAt + this.#ttlMs / 3;
    while (await this.#waitUntil(nextAt)) {
      const sentAt = this.#ambient.clock.monotonic();
      const renewed = await this.#renewOnce(sentAt);
      nextAt = renewed ? sentAt + this.#ttlMs / 3 : this.#ambient.clock.monotonic() + this.#ttlMs / 12;
    }
  }

  /** Returns false if the lease was lost meanwhile. */
  async #waitUntil(until: number): Promise<boolean> {
    const delay = Math.max(0, until - this.#ambient.clock.monotonic());
    try {
      await sleep(this.#ambient.timers, delay, this.lost);
      return true;
    } catch {
      return false;
    }
  }

  async #renewOnce(sentAt: number): Promise<boolean> {
    using deadline = startDeadline(this.#ambient, this.#ttlMs / 6, this.lost);
    try {
      const ttlMs = await orAbort(this.#actions.renew(deadline.signal), deadline.signal);
      if (this.lost.aborted) return false;
      if (ttlMs === undefined) {
        this.markLost("it expired or was revoked");
        return false;
      }
      this.#ttlMs = ttlMs;
      this.#expiresAt = sentAt + ttlMs;
      this.#scheduleExpiry();
      return true;
    } catch (thrown) {
      this.#cause = thrown;
      return false;
    }
  }
}
