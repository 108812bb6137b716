import type { Ids, Timer, Timers } from "@oaas/foundation";
import type { ChangeEvent, LeaseId } from "../../port/key-value-store.ts";

interface Held {
  readonly ttlMs: number;
  readonly keys: Set<string>;
  timer: Timer;
}

/** Leases of the store: their keys and expiry. */
export class LeaseTable {
  readonly #held = new Map<LeaseId, Held>();
  readonly #ambient: { readonly timers: Timers; readonly ids: Ids };
  readonly #expired: (lease: LeaseId) => void;

  constructor(ambient: { readonly timers: Timers; readonly ids: Ids }, expired: (lease: LeaseId) => void) {
    this.#ambient = ambient;
    this.#expired = expired;
  }

  has(lease: LeaseId): boolean {
    return this.#held.has(lease);
  }

  grant(ttlMs: number): LeaseId {
    const lease = this.#ambient.ids.uuid();
    this.#held.set(lease, { ttlMs, keys: new Set(), timer: this.#schedule(lease, ttlMs) });
    return lease;
  }

  /** Renews a lease and returns its time to live; undefined if it does not exist. */
  renew(lease: LeaseId): number | undefined {
    const held = this.#held.get(lease);
    if (held === undefined) return undefined;
    held.timer.cancel();
    held.timer = this.#schedule(lease, held.ttlMs);
    return held.ttlMs;
  }

  /** Removes a lease and returns its keys, which must be deleted. */
  end(lease: LeaseId): string[] {
    const held = this.#held.get(lease);
    held?.timer.cancel();
    this.#held.delete(lease);
    return [...(held?.keys ?? [])];
  }

  /** Updates the keys of leases. */
  follow(event: ChangeEvent): void {
    const previous = event.previous?.lease;
    if (previous !== undefined) this.#held.get(previous)?.keys.delete(event.previous?.key as string);
    if (event.type === "put" && event.entry.lease !== undefined) {
      this.#held.get(event.entry.lease)?.keys.add(event.entry.key);
    }
  }

  close(): void {
    for (const held of this.#held.values()) held.timer.cancel();
    this.#held.clear();
  }

  #schedule(lease: LeaseId, ttlMs: number): Timer {
    return this.#ambient.timers.after(ttlMs, () => this.#expired(lease));
  }
}
