import { orAbort, sleep, startDeadline, type Clock, type Fault, type Timers } from "@oaas/foundation";
import { leaseLostFault } from "../port/store-faults.ts";
import type { CallOptions, Lease, LeaseId } from "../port/key-value-store.ts";

/** What a backend does for one lease. */
export interface LeaseActions {
  /** Renews once; resolves to the new time to live, or undefined when the store knows the lease no more. */
  renew(signal: AbortSignal): Promise<number | undefined>;
  revoke(options: CallOptions | undefined): Promise<void>;
  /** Called once, when the keeper has nothing left to do. */
  ended(): void;
}

export interface GrantedLease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Monotonic time before the request that was answered was sent: the store's own count cannot have started earlier. */
  readonly askedAt: number;
  readonly keepAlive: boolean;
}

/** Part of the time to live that is given up for clocks that do not run equally fast. */
const SAFETY = 0.1;

/**
 * Holds a lease for its owner, the same way for every backend.
 *
 * Guarantees: renews each third of the time to live; a renewal counts from when it was *sent*, so `lost` aborts before
 * the store's own clock can end the lease; a renewal that hangs is given up and tried again; an answer that the
 * lease is gone aborts `lost` at once.
 */
export class LeaseKeeper implements Lease {
  readonly id: LeaseId;
  #ttlMs: number;
  #expiresAt: number;
  #expiry: { cancel(): void } | undefined;
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
    this.#expiresAt = granted.askedAt + granted.ttlMs;
    this.#arm();
    if (granted.keepAlive) void this.#keepAlive(granted.askedAt);
  }

  get ttlMs(): number {
    return this.#ttlMs;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  assertHeld(): void {
    if (!this.lost.aborted && this.#ambient.clock.monotonic() >= this.#safeUntil()) this.#ranOut();
    if (this.lost.aborted) throw this.lost.reason as Fault;
  }

  async revoke(options?: CallOptions): Promise<void> {
    this.lose("it was revoked by its owner");
    await this.#actions.revoke(options);
  }

  /** Reports the loss; what comes after the first is ignored. */
  lose(why: string, cause?: unknown): void {
    if (this.lost.aborted) return;
    this.#expiry?.cancel();
    this.#lost.abort(leaseLostFault(this.id, why, cause));
    this.#actions.ended();
  }

  #safeUntil(): number {
    return this.#expiresAt - this.#ttlMs * SAFETY;
  }

  #arm(): void {
    this.#expiry?.cancel();
    const delay = Math.max(0, this.#safeUntil() - this.#ambient.clock.monotonic());
    this.#expiry = this.#ambient.timers.after(delay, () => this.#ranOut());
  }

  #ranOut(): void {
    this.lose("it was not renewed in time", this.#cause);
  }

  async #keepAlive(askedAt: number): Promise<void> {
    let nextAt = askedAt + this.#ttlMs / 3;
    while (await this.#rest(nextAt)) {
      const sentAt = this.#ambient.clock.monotonic();
      const renewed = await this.#renewOnce(sentAt);
      nextAt = renewed ? sentAt + this.#ttlMs / 3 : this.#ambient.clock.monotonic() + this.#ttlMs / 12;
    }
  }

  /** False when the lease was lost meanwhile. */
  async #rest(until: number): Promise<boolean> {
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
        this.lose("the store no longer knows it; it ran out or was revoked");
        return false;
      }
      this.#ttlMs = ttlMs;
      this.#expiresAt = sentAt + ttlMs;
      this.#arm();
      return true;
    } catch (thrown) {
      this.#cause = thrown;
      return false;
    }
  }
}
