import { create } from "@bufbuild/protobuf";
import { isFault } from "@oaas/foundation";
import {
  CompactionRequestSchema,
  KV,
  Maintenance,
  RangeRequestSchema,
  StatusRequestSchema,
  type RangeResponse,
} from "../../gen/etcd_pb.ts";
import { checkKeys, checkRange, checkWatch } from "../../port/check-requests.ts";
import { rangeAfter, rangeOf, type KeyRange } from "../../port/key-order.ts";
import { READ_TOGETHER, withinBytes } from "../../port/page-bytes.ts";
import { closedFault, compactedFault } from "../../port/store-faults.ts";
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
import type { LeaseRenewer } from "../../leases/lease-renewer.ts";
import { commitOnce } from "./commit.ts";
import { EtcdConnection, methodOf, type CallRules } from "./connection/connection.ts";
import { KeySpace } from "./keys.ts";
import { grantEtcdLease } from "./lease.ts";
import type { EtcdStoreOptions } from "./options.ts";
import { barePut, readRequest, readResult, transactionRequest, transactionResult } from "./transaction.ts";
import { watchEtcd } from "./watch.ts";

export type { EtcdStoreOptions, EtcdTlsOptions, EtcdIncident } from "./options.ts";

const RANGE = methodOf(KV.method.range);
const PUT = methodOf(KV.method.put);
const TXN = methodOf(KV.method.txn);
const COMPACT = methodOf(KV.method.compact);
const STATUS = methodOf(Maintenance.method.status);

const lengthOf = ({ value }: Entry): number => value.length;

/** A store in etcd (3.4 and later). Connects on the first call. */
export function openEtcdStore(options: EtcdStoreOptions): KeyValueStore {
  return new EtcdStore(options);
}

class EtcdStore implements KeyValueStore {
  readonly #options: EtcdStoreOptions;
  readonly #connection: EtcdConnection;
  readonly #keys: KeySpace;
  readonly #keepers = new Set<LeaseRenewer>();

  constructor(options: EtcdStoreOptions) {
    this.#options = options;
    this.#connection = new EtcdConnection(options);
    this.#keys = new KeySpace(options.keyPrefix ?? "");
  }

  async revision(options?: CallOptions): Promise<number> {
    const rules = this.#rules(options?.signal);
    const response = await this.#range({ start: "", end: undefined }, { countOnly: true, limit: 1n }, rules);
    return Number(response.header?.revision);
  }

  async get(key: string, options?: ReadOptions): Promise<Entry | undefined> {
    checkKeys([key]);
    const revision = BigInt(options?.atRevision ?? 0);
    const request = create(RangeRequestSchema, { key: this.#keys.key(key), revision });
    const read = this.#connection.call(RANGE, request, this.#rules(options?.signal));
    const { kvs } = await this.#nameRevision(options?.atRevision, read);
    return kvs[0] === undefined ? undefined : this.#keys.entry(kvs[0]);
  }

  async getMany(keys: readonly string[], options?: ReadOptions): Promise<(Entry | undefined)[]> {
    checkKeys(keys);
    if (keys.length === 0) return [];
    const request = readRequest(this.#keys, keys, options?.atRevision ?? 0);
    const read = this.#connection.call(TXN, request, this.#rules(options?.signal));
    return readResult(this.#keys, await this.#nameRevision(options?.atRevision, read));
  }

  async range(query: RangeQuery, options?: CallOptions): Promise<Page> {
    const limit = checkRange(query);
    const rules = this.#rules(options?.signal);
    const whole = rangeOf(query);
    const read = (after: string | undefined, most: number, atRevision = 0): Promise<RangeResponse> =>
      this.#range(
        rangeAfter(whole, after),
        { limit: BigInt(most), revision: BigInt(atRevision), keysOnly: query.keysOnly ?? false },
        rules,
      );
    const together = query.keysOnly ? limit : Math.min(limit, READ_TOGETHER);
    const first = await this.#nameRevision(query.atRevision, read(query.after, together, query.atRevision));
    const revision = query.atRevision ?? Number(first.header?.revision);
    const found = first.kvs.map((pair) => this.#keys.entry(pair));
    let { more } = first;
    while (more && found.length < limit && withinBytes(found, lengthOf).length === found.length) {
      const after = (found.at(-1) as Entry).key;
      const next = await this.#nameRevision(revision, read(after, Math.min(together, limit - found.length), revision));
      for (const pair of next.kvs) found.push(this.#keys.entry(pair));
      ({ more } = next);
    }
    const entries = withinBytes(found, lengthOf);
    return {
      entries,
      revision,
      ...(more || entries.length < found.length ? { next: (entries.at(-1) as Entry).key } : {}),
      ...(query.count ? { total: await this.#count(whole, query.after, first, revision, rules) } : {}),
    };
  }

  async commit(transaction: Transaction, options?: CallOptions): Promise<Committed> {
    const rules = this.#rules(options?.signal);
    const writing = { ...rules, isWrite: true };
    return commitOnce(transaction, {
      send: async (each) => {
        const put = barePut(this.#keys, each);
        if (put !== undefined) {
          const { header } = await this.#connection.call(PUT, put, writing);
          return { revision: Number(header?.revision), changed: true };
        }
        const response = await this.#connection.call(TXN, transactionRequest(this.#keys, each), writing);
        return transactionResult(this.#keys, each, response);
      },
      read: async (keys) => {
        const request = readRequest(this.#keys, keys, 0);
        const response = await this.#connection.call(TXN, request, { ...rules, resolvesOutcome: true });
        return readResult(this.#keys, response);
      },
      revision: () => this.revision(options),
    });
  }

  watch(query: WatchQuery): AsyncIterable<WatchBatch> {
    checkWatch(query);
    return watchEtcd({
      ambient: this.#options.ambient,
      connection: this.#connection,
      keys: this.#keys,
      query,
      onIncident: (incident) => this.#options.onIncident?.(incident),
    });
  }

  async grantLease(request: LeaseRequest, options?: CallOptions): Promise<Lease> {
    const keeper = await grantEtcdLease(
      {
        ambient: this.#options.ambient,
        connection: this.#connection,
        rules: (signal) => this.#rules(signal),
        ended: (ending) => void this.#keepers.delete(ending),
      },
      request,
      options?.signal,
    );
    this.#keepers.add(keeper);
    if (this.#connection.closed) keeper.markLost("the store was closed");
    return keeper;
  }

  async compact(revision: number, options?: CallOptions): Promise<void> {
    const request = create(CompactionRequestSchema, { revision: BigInt(revision) });
    try {
      await this.#connection.call(COMPACT, request, this.#rules(options?.signal));
    } catch (thrown) {
      // Another client, or an own earlier attempt, was first.
      if ((thrown as { code?: unknown }).code !== "OAAS_STORE_COMPACTED") throw thrown;
    }
  }

  async sizeInBytes(options?: CallOptions): Promise<number | undefined> {
    const rules = this.#rules(options?.signal);
    try {
      const { dbSize } = await this.#connection.call(STATUS, create(StatusRequestSchema), rules);
      return Number(dbSize);
    } catch (thrown) {
      if (isFault(thrown, "permission-denied")) return undefined;
      throw thrown;
    }
  }

  async close(): Promise<void> {
    if (this.#connection.closed) return;
    this.#connection.close();
    for (const keeper of this.#keepers) keeper.markLost("the store was closed");
  }

  #rules(signal: AbortSignal | undefined): CallRules {
    if (this.#connection.closed) throw closedFault();
    const { ambient, timeoutMs = 10_000 } = this.#options;
    return { signal, endsAt: ambient.clock.monotonic() + timeoutMs };
  }

  #range(
    range: KeyRange,
    how: { limit?: bigint; revision?: bigint; keysOnly?: boolean; countOnly?: boolean },
    rules: CallRules,
  ): Promise<RangeResponse> {
    const request = create(RangeRequestSchema, { ...this.#keys.range(range), ...how });
    return this.#connection.call(RANGE, request, rules);
  }

  /** etcd counts from the start of a page, so only the first page has the total. */
  async #count(
    whole: KeyRange,
    after: string | undefined,
    page: RangeResponse,
    revision: number,
    rules: CallRules,
  ): Promise<number> {
    if (after === undefined) return Number(page.count);
    const counted = await this.#range(whole, { countOnly: true, revision: BigInt(revision) }, rules);
    return Number(counted.count);
  }

  /** etcd does not return the requested revision. */
  async #nameRevision<T>(requested: number | undefined, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code !== "OAAS_STORE_COMPACTED") throw thrown;
      throw compactedFault(requested ?? 0, undefined);
    }
  }
}
