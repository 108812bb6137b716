/**
 * One key-value port, three backends, typed collections above it.
 *
 * Reading order: port (the store, transactions, faults), leases (ownership with fencing), collections (records with
 * codec, optimistic locking and indexes), views (collections in memory). Backends have their own entries:
 * `@oaas/storage/memory`, `/sqlite`, `/etcd`; `@oaas/storage/testing` has the suite that every backend passes.
 */
export {
  DEFAULT_PAGE,
  MAX_KEY_BYTES,
  MAX_OPERATIONS,
  MAX_PAGE,
  MAX_PAGE_BYTES,
  MAX_TRANSACTION_BYTES,
  type CallOptions,
  type ChangeEvent,
  type Committed,
  type Condition,
  type Entry,
  type KeySpan,
  type KeyValueStore,
  type Lease,
  type LeaseId,
  type LeaseRequest,
  type Page,
  type RangeQuery,
  type ReadOptions,
  type Transaction,
  type WatchBatch,
  type WatchQuery,
  type Write,
} from "./port/key-value-store.ts";
export { absent, present, sameIncarnation, combineTransactions, unchanged } from "./port/transaction.ts";
export { conflictOf, outcomeUnknown, type Conflict } from "./port/store-faults.ts";
export { acquire, type Acquired, type AcquireRequest, type Ownership } from "./leases/ownership.ts";
export { Collection, type CollectionDefinition, type ListOptions } from "./collections/collection.ts";
export type { Codec, RecordText } from "./collections/codec.ts";
export type { SealedSecret, SecretCipher } from "./encryption/secret-cipher.ts";
export type { SecretFields } from "./encryption/secret-fields.ts";
export type { Indexes } from "./collections/collection-layout.ts";
export type { CollectionBatch, CollectionChange, Listed, Stored, Unreadable } from "./collections/records.ts";
export { pageOf, type Ordered, type OrderedPage, type PageQuery } from "./views/ordered-page.ts";
export {
  CollectionView,
  type CollectionViewOptions,
  type Orders,
  type ViewPage,
  type ViewQuery,
} from "./views/collection-view.ts";
