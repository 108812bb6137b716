/**
 * The key-value port. Every backend has the same semantics.
 *
 * ```
 *   commit ──▶ revision n ──▶ history (bounded) ──▶ watchers, each at its own pace
 *                │                 │
 *                ▼                 └─ compact(r): revisions up to r can no longer be watched
 *            get, range (now, or at a revision in the retained history)
 * ```
 *
 * Keys are non-empty well-formed strings without U+0000, ordered by code point (the order of their UTF-8 bytes). Values
 * are well-formed strings, JSON text in practice. One counter, the revision, orders every change of the store.
 */
export interface KeyValueStore {
  /** Returns the current revision. Success proves that the store is reachable. */
  revision(options?: CallOptions): Promise<number>;
  /** Returns the current entry, or undefined. */
  get(key: string, options?: ReadOptions): Promise<Entry | undefined>;
  /** Returns several entries of the same revision, in the order of `keys`; at most `MAX_OPERATIONS`. */
  getMany(keys: readonly string[], options?: ReadOptions): Promise<(Entry | undefined)[]>;
  /** Returns one page of a range in key order, limited in number and in bytes (`MAX_PAGE_BYTES`). Pages with the same `atRevision` form a consistent snapshot. */
  range(query: RangeQuery, options?: CallOptions): Promise<Page>;
  /**
   * Applies all writes as one revision if all conditions are satisfied; otherwise throws a conflict fault
   * (`conflictOf`).
   *
   * Guarantees: durable when it resolves, if the backend is durable; readers never see a part of a transaction.
   * Caveats: after a fault with `outcomeUnknown` the transaction may have been applied.
   */
  commit(transaction: Transaction, options?: CallOptions): Promise<Committed>;
  /**
   * Streams every change of a range from a revision, in order, without gaps or duplicates; by default one batch per
   * transaction.
   *
   * Guarantees: all events of a transaction are in one batch. A batch without events is a bookmark: everything up to
   * its revision has been delivered. A slow reader needs no buffer: it reads from history, and gets
   * OAAS_STORE_COMPACTED when its position is no longer retained. Ends when the signal aborts or the reader stops.
   */
  watch(query: WatchQuery): AsyncIterable<WatchBatch>;
  /** Grants a lease and by default renews it. Keys that are put with the lease are deleted when it ends. */
  grantLease(request: LeaseRequest, options?: CallOptions): Promise<Lease>;
  /** Discards history before a revision. Reads at that revision still work. */
  compact(revision: number, options?: CallOptions): Promise<void>;
  /**
   * Returns the occupied bytes: of keys and values in memory, of the SQLite file, or of the database of one etcd member
   * with all its clients. Undefined without permission: with authentication, etcd reports its status to administrators.
   */
  sizeInBytes(options?: CallOptions): Promise<number | undefined>;
  /** Stops watches and lease renewals and rejects further calls. Leases expire. Idempotent. */
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** Read at this revision. OAAS_STORE_COMPACTED if it is no longer retained. */
  readonly atRevision?: number;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
  /** Revision that created the key; with a lease it is the fencing token. */
  readonly createRevision: number;
  /** Revision of the last change. */
  readonly modRevision: number;
  /** Number of writes since the key was created, starting at 1. */
  readonly version: number;
  readonly lease?: LeaseId;
}

export type LeaseId = string;

/** All keys with a prefix (the empty prefix selects all), or keys from `start` (inclusive) to `end` (exclusive). */
export type KeySpan =
  | { readonly prefix: string; readonly start?: never; readonly end?: never }
  | { readonly start: string; readonly end?: string; readonly prefix?: never };

export type RangeQuery = KeySpan & {
  /** Maximum number of entries, 1 to `MAX_PAGE`; `DEFAULT_PAGE` by default. */
  readonly limit?: number;
  /** Continue after this key: the `next` of the previous page. */
  readonly after?: string;
  readonly atRevision?: number;
  /** Return empty strings instead of values. */
  readonly keysOnly?: boolean;
  /** Also count the whole range. */
  readonly count?: boolean;
};

export interface Page {
  readonly entries: readonly Entry[];
  /** Revision of this snapshot. Watch from the next revision to miss nothing. */
  readonly revision: number;
  /** Set if there are more entries: pass it as `after`. */
  readonly next?: string;
  /** Number of entries in the whole range; only with `count`. */
  readonly total?: number;
}

export type Condition =
  | { readonly key: string; readonly test: "absent" | "present" }
  | { readonly key: string; readonly test: "mod-revision" | "create-revision"; readonly revision: number };

export type Write =
  | { readonly op: "put"; readonly key: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly op: "delete"; readonly key: string }
  | { readonly op: "delete-prefix"; readonly prefix: string };

/** At most `MAX_OPERATIONS` conditions and as many writes; each key can be written once. */
export interface Transaction {
  readonly conditions?: readonly Condition[];
  readonly writes: readonly Write[];
}

export interface Committed {
  /** Revision of the transaction, or the current one if it changed nothing. */
  readonly revision: number;
  readonly changed: boolean;
}

export type WatchQuery = KeySpan & {
  /** First revision to deliver. */
  readonly fromRevision: number;
  /** Also deliver the previous entries, as far as they are retained. */
  readonly withPrevious?: boolean;
  /** Allow several pending transactions in one batch, complete and in order; its revision is that of the last. */
  readonly batched?: boolean;
  readonly signal?: AbortSignal;
};

export interface WatchBatch {
  readonly revision: number;
  readonly events: readonly ChangeEvent[];
}

export type ChangeEvent =
  | { readonly type: "put"; readonly entry: Entry; readonly previous?: Entry }
  | { readonly type: "delete"; readonly key: string; readonly revision: number; readonly previous?: Entry };

export interface LeaseRequest {
  /** Requested time to live. etcd rounds up to seconds and has a minimum; see the granted `ttlMs`. */
  readonly ttlMs: number;
  /** False: the lease is not renewed and expires. */
  readonly keepAlive?: boolean;
}

/**
 * Time-bound ownership.
 *
 * Caveats: a frozen process detects the loss of its lease late. An effect that must not happen twice needs the
 * `createRevision` of the owner key as a condition of each commit (fencing), see `acquire`.
 */
export interface Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Aborts with an OAAS_LEASE_LOST fault before another owner can acquire the keys of the lease. */
  readonly lost: AbortSignal;
  /** Throws OAAS_LEASE_LOST if the lease has expired by the clock, even if its timer has not fired yet. */
  assertHeld(): void;
  /** Ends the lease and deletes its keys. Idempotent; `lost` aborts first. */
  revoke(options?: CallOptions): Promise<void>;
}

/** Limit of conditions and of writes per transaction: the default limit of etcd, for every backend. */
export const MAX_OPERATIONS = 128;
/** Limit of bytes per transaction: below etcd's request limit of 1.5 MiB. */
export const MAX_TRANSACTION_BYTES = 1_310_720;
export const MAX_KEY_BYTES = 4096;
export const MAX_PAGE = 10_000;
/**
 * A page of any list ends when its stored texts have this length; it has at least one item. Counted in characters,
 * which are bytes for most texts.
 */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;
export const DEFAULT_PAGE = 500;
