import { absent, sameIncarnation } from "../port/transaction.ts";
import { conflictOf } from "../port/store-faults.ts";
import type { CallOptions, Condition, Entry, KeyValueStore, Lease } from "../port/key-value-store.ts";

/**
 * Sole ownership of a key, with a token that no later owner shares.
 *
 * Guarantees: `fence` as a condition of a commit makes the store itself refuse it once ownership has passed on, however
 * late the former owner learns of that.
 */
export interface Ownership {
  readonly lease: Lease;
  /** Greater than that of every earlier owner of the key. */
  readonly token: number;
  readonly fence: Condition;
  /** Gives the key up at once. */
  release(options?: CallOptions): Promise<void>;
}

export type Acquired =
  | { readonly owned: true; readonly ownership: Ownership }
  | { readonly owned: false; readonly by: Entry | undefined };

export interface AcquireRequest {
  readonly key: string;
  /** Who owns it: must differ between processes, as it is also how an owner recognises itself after a lost answer. */
  readonly owner: string;
  readonly ttlMs: number;
}

/** Takes the key if nobody has it. Never waits: watch the key to learn when it is free. */
export async function acquire(store: KeyValueStore, request: AcquireRequest, options?: CallOptions): Promise<Acquired> {
  const { key, owner, ttlMs } = request;
  const taken = await store.get(key, options);
  if (taken !== undefined) return { owned: false, by: taken };
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
