import { abortFault, invalidArgument, type Ambient } from "@oaas/foundation";
import { checkKeys, checkReadKey, checkWatch } from "../../port/check-requests.ts";
import { closedFault } from "../../port/store-faults.ts";
import type {
  CallOptions,
  Committed,
  Entry,
  KeyValueStore,
  Lease,
  LeaseRequest,
  Page,
  RangeQuery,
  ReadOptions,
  Transaction,
  WatchBatch,
  WatchQuery,
} from "../../port/key-value-store.ts";
import { LeaseRenewer } from "../../leases/lease-renewer.ts";
import type { LocalEngine } from "./engine.ts";
import { readMany, readOne, readRange } from "./read.ts";
import { watchHistory } from "./watch.ts";

export interface HandleOptions {
  readonly ambient: Ambient;
  readonly engine: LocalEngine;
  readonly bookmarkMs: number;
  /** Whether closing this handle closes the engine; true for the first handle. */
  readonly owner: boolean;
}

/** One client of a local engine with its own lease renewals and watches, which end when it is closed. */
export class LocalHandle implements KeyValueStore {
  readonly #options: HandleOptions;
  readonly #keepers = new Set<LeaseRenewer>();
  readonly #closing = new AbortController();
  #isClosed = false;

  constructor(options: HandleOptions) {
    this.#options = options;
  }

  async revision(options?: CallOptions): Promise<number> {
    return this.#engine(options).history.revision;
  }

  async get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    checkReadKey(key);
    return readOne(this.#engine(options), key, options?.atRevision);
  }

  async getMany(keys: readonly string[], options?: ReadOptions): Promise<(Entry | undefined)[]> {
    checkKeys(keys);
    return readMany(this.#engine(options), keys, options?.atRevision);
  }

  async range(query: RangeQuery, options?: CallOptions): Promise<Page> {
    return readRange(this.#engine(options), query);
  }

  async commit(transaction: Transaction, options?: CallOptions): Promise<Committed> {
    return this.#engine(options).commit(transaction);
  }

  watch(query: WatchQuery): AsyncIterable<WatchBatch> {
    checkWatch(query);
    const { engine, ambient, bookmarkMs } = this.#options;
    return watchHistory({ engine, timers: ambient.timers, bookmarkMs, closing: this.#closing.signal, query });
  }

  async grantLease(request: LeaseRequest, options?: CallOptions): Promise<Lease> {
    const engine = this.#engine(options);
    if (!(request.ttlMs > 0)) throw invalidArgument("the lease", [{ path: "$.ttlMs", message: "must be positive" }]);
    const { ambient } = this.#options;
    const granted = {
      requestedAt: ambient.clock.monotonic(),
      id: engine.leases.grant(request.ttlMs),
      ttlMs: request.ttlMs,
      keepAlive: request.keepAlive ?? true,
    };
    const keeper: LeaseRenewer = new LeaseRenewer(ambient, granted, {
      renew: async () => engine.leases.renew(granted.id),
      revoke: () => engine.revoke(granted.id),
      ended: () => void this.#keepers.delete(keeper),
    });
    this.#keepers.add(keeper);
    return keeper;
  }

  async compact(revision: number, options?: CallOptions): Promise<void> {
    this.#engine(options).compact(revision);
  }

  async sizeInBytes(options?: CallOptions): Promise<number> {
    return this.#engine(options).table.bytes;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closing.abort(closedFault());
    for (const keeper of this.#keepers) keeper.markLost("the store was closed");
    if (this.#options.owner) this.#options.engine.close();
  }

  #engine(options: CallOptions | undefined): LocalEngine {
    if (this.#isClosed) throw closedFault();
    if (options?.signal?.aborted) throw abortFault(options.signal);
    this.#options.engine.assertUsable();
    return this.#options.engine;
  }
}
