import { absent, sameIncarnation } from "../port/transaction.ts";
import { conflictOf } from "../port/store-faults.ts";
import type { CallOptions, Condition, Entry, KeyValueStore, Lease } from "../port/key-value-store.ts";

/**
 * Exclusive ownership of a key, with a fencing token.
 *
 * Guarantees: a commit with `fence` as a condition is rejected by the store when another owner has acquired the key,
 * even if the former owner has not detected the loss yet.
 */
export interface Ownership {
  readonly lease: Lease;
  /** Greater than the token of every earlier owner. */
  readonly token: number;
  readonly fence: Condition;
  /** Releases the key immediately. */
  release(options?: CallOptions): Promise<void>;
}

export type Acquired =
  | { readonly owned: true; readonly ownership: Ownership }
  | { readonly owned: false; readonly by: Entry | undefined };

export interface AcquireRequest {
  readonly key: string;
  /** Identity of the owner, unique per process. It also identifies an own write after a lost response. */
  readonly owner: string;
  readonly ttlMs: number;
}

/** Acquires the key if it is free. Does not wait: watch the key to detect its release. */
export async function acquire(store: KeyValueStore, request: AcquireRequest, options?: CallOptions): Promise<Acquired> {
  const { key, owner, ttlMs } = request;
  const existing = await store.get(key, options);
  if (existing !== undefined) return { owned: false, by: existing };
  const lease = await store.grantLease({ ttlMs }, options);
  try {
    const { revision } = await store.commit(
      { conditions: [absent(key)], writes: [{ op: "put", key, value: owner, lease: lease.id }] },
      options,
    );
    return { owned: true, ownership: ownershipOf(key, lease, revision) };
  } catch (thrown) {
    await lease.revoke().catch(() => undefined);
    if (conflictOf(thrown) === undefined) throw thrown;
    return { owned: false, by: await store.get(key, options) };
  }
}

function ownershipOf(key: string, lease: Lease, token: number): Ownership {
  return { lease, token, fence: sameIncarnation(key, token), release: (options) => lease.revoke(options) };
}
