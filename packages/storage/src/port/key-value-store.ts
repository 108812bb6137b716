/**
 * The key-value port: what every backend promises, in the same words.
 *
 * ```
 *   commit ──▶ revision n ──▶ history (bounded) ──▶ watchers, each at its own pace
 *                │                 │
 *                ▼                 └─ compact(r): nothing at or before r can be watched any more
 *            get, range (now, or as of a revision that history still reaches)
 * ```
 *
 * Keys are non-empty well-formed strings without U+0000, ordered by code point (the order of their UTF-8 bytes). Values
 * are well-formed strings, JSON text in practice. One counter, the revision, orders every change of the store.
 */
export interface KeyValueStore {
  /** The present revision. Answering it proves that the store is reachable. */
  revision(options?: CallOptions): Promise<number>;
  /** The entry as of now, or undefined. */
  get(key: string, options?: ReadOptions): Promise<Entry | undefined>;
  /** Several entries of one and the same revision, in the order asked for; at most `MAX_OPERATIONS`. */
  getMany(keys: readonly string[], options?: ReadOptions): Promise<(Entry | undefined)[]>;
  /** One page of a range in key order. Pages of one `atRevision` together are a consistent picture. */
  range(query: RangeQuery, options?: CallOptions): Promise<Page>;
  /**
   * Applies all writes as one revision if all conditions hold, else none and a conflict fault (see `conflictOf`).
   *
   * Guarantees: durable when it resolves (as far as the backend is); no reader sees a part of it.
   * Caveats: a fault other than conflict whose `outcomeUnknown` is true may have been applied; see `outcomeUnknown`.
   */
  commit(transaction: Transaction, options?: CallOptions): Promise<Committed>;
  /**
   * Every change of a range from a revision on, one batch per transaction unless asked otherwise, in order, without gap or repetition.
   *
   * Guarantees: all events of one transaction come in one batch; a batch without events is a bookmark that says
   * everything up to its revision has been delivered; a slow reader costs no memory: it is fed from history and
   * gets OAAS_STORE_COMPACTED when history no longer reaches it. Ends when the signal aborts or the reader stops.
   */
  watch(query: WatchQuery): AsyncIterable<WatchBatch>;
  /** Grants a lease and, unless told otherwise, keeps it alive. Keys put with it die with it. */
  grantLease(request: LeaseRequest, options?: CallOptions): Promise<Lease>;
  /** Forgets history up to a revision. Reading as of that revision still works, as of an earlier one does not. */
  compact(revision: number, options?: CallOptions): Promise<void>;
  /** Stops watches and keep-alives and refuses everything from then on. Leases are left to run out. Repeatable. */
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** Read as of this revision. OAAS_STORE_COMPACTED when history no longer reaches it. */
  readonly atRevision?: number;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
  /** The revision that created the key; with a lease it serves as fencing token. */
  readonly createRevision: number;
  /** The revision that last changed it. */
  readonly modRevision: number;
  /** How often it was written since it was created, from 1. */
  readonly version: number;
  readonly lease?: LeaseId;
}

export type LeaseId = string;

/** Either every key with a prefix (the empty one means all) or those from `start` (inclusive) to `end` (exclusive). */
export type KeySpan =
  | { readonly prefix: string; readonly start?: never; readonly end?: never }
  | { readonly start: string; readonly end?: string; readonly prefix?: never };

export type RangeQuery = KeySpan & {
  /** At most this many entries, 1 to `MAX_PAGE`; by default `DEFAULT_PAGE`. */
  readonly limit?: number;
  /** Continue behind this key: the `next` of the page before. */
  readonly after?: string;
  readonly atRevision?: number;
  /** Leave out the values (they are empty strings). */
  readonly keysOnly?: boolean;
  /** Also count the whole range. */
  readonly count?: boolean;
};

export interface Page {
  readonly entries: readonly Entry[];
  /** The revision of this picture. Watch from the one after it to miss nothing. */
  readonly revision: number;
  /** Set when there is more: pass it as `after`. */
  readonly next?: string;
  /** Entries in the whole range, whatever the paging; only when asked for. */
  readonly total?: number;
}

export type Condition =
  | { readonly key: string; readonly test: "absent" | "present" }
  | { readonly key: string; readonly test: "mod-revision" | "create-revision"; readonly revision: number };

export type Write =
  | { readonly op: "put"; readonly key: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly op: "delete"; readonly key: string }
  | { readonly op: "delete-prefix"; readonly prefix: string };

/** At most `MAX_OPERATIONS` conditions and as many writes; no two writes may touch the same key. */
export interface Transaction {
  readonly conditions?: readonly Condition[];
  readonly writes: readonly Write[];
}

export interface Committed {
  /** The transaction's own revision, or the present one when it changed nothing. */
  readonly revision: number;
  readonly changed: boolean;
}

export type WatchQuery = KeySpan & {
  /** The first revision to be delivered. */
  readonly fromRevision: number;
  /** Also deliver what was there before, as far as history reaches. */
  readonly withPrevious?: boolean;
  /** Transactions that have gathered may come as one batch, each whole and in order; its revision is that of the last. */
  readonly gathered?: boolean;
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
  /** Asked time to live. Whole seconds on etcd, which rounds up and has a least value; see the granted `ttlMs`. */
  readonly ttlMs: number;
  /** False: nobody renews it, so it ends after its time. */
  readonly keepAlive?: boolean;
}

/**
 * Time-bound ownership.
 *
 * Caveats: a process that was frozen learns late that its lease is lost. What must never happen twice needs the owner
 * key's `createRevision` as a condition of each commit (fencing), see `acquire`.
 */
export interface Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
  /** Aborts, with an OAAS_LEASE_LOST fault, before the store can give the lease's keys to another owner. */
  readonly lost: AbortSignal;
  /** Throws OAAS_LEASE_LOST when the clock says the lease is over, even if no timer could fire yet. */
  assertHeld(): void;
  /** Ends the lease and deletes its keys. Repeatable; `lost` aborts first. */
  revoke(options?: CallOptions): Promise<void>;
}

/** Conditions, and writes, per transaction: etcd's own default bound, so that every backend means the same. */
export const MAX_OPERATIONS = 128;
/** Bytes of keys and values per transaction: below etcd's request limit of 1.5 MiB, with room for its envelope. */
export const MAX_TRANSACTION_BYTES = 1_310_720;
export const MAX_KEY_BYTES = 4096;
export const MAX_PAGE = 10_000;
export const DEFAULT_PAGE = 500;
