import type { Awaitable } from "@oaas/foundation";
import type { Committed, KeyValueStore, Transaction } from "./kv.ts";

/** Commits, without a promise where the store waits for nothing; then a refusal is thrown. */
export function commitNow(store: KeyValueStore, transaction: Transaction): Awaitable<Committed> {
  return store.commitAtOnce === undefined ? store.commit(transaction) : store.commitAtOnce(transaction);
}
