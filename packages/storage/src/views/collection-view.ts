import { Fault, orAbort, sleep, type Ambient } from "@oaas/foundation";
import type { Collection } from "../collections/collection.ts";
import type { CallOptions } from "../port/key-value-store.ts";
import { pageOf, type PageQuery } from "./ordered-page.ts";
import type { CollectionChange, Stored, Unreadable } from "../collections/records.ts";
import { SortedList } from "./sorted-list.ts";

/** Sort orders of a view: by a text of each record, ties by id. */
export type Orders<T> = Readonly<Record<string, (stored: Stored<T>) => string>>;

export interface ViewQuery<T> extends PageQuery {
  /** All records by default. Must be pure, and return the same result for the same `filterKey`. */
  readonly filter?: (stored: Stored<T>) => boolean;
  /** Name of the filter, for caching its result across pages. */
  readonly filterKey?: string;
  /** One of the orders of the view; by id by default. */
  readonly order?: string;
  readonly descending?: boolean;
}

export interface ViewPage<T> {
  readonly records: readonly Stored<T>[];
  /** Number of matching records. */
  readonly total: number;
  readonly next?: string;
}

export interface CollectionViewOptions<T> {
  readonly ambient: Ambient;
  readonly orders?: Orders<T>;
  /** Called after each batch with the ids of changed and deleted records. */
  readonly onChange?: (ids: readonly string[]) => void;
}

/** Limit of cached results. */
const MAX_CACHED_RESULTS = 32;
const RETRY_MS = 500;

/**
 * A collection in memory, updated by a watch: lists with any filter, order and page without reading the store.
 *
 * *Guarantees*: after `waitForRevision(r)` every read includes the changes up to revision r; after `applyWrite` it
 * includes that record. A page token stays valid while records are created and deleted.
 * *Caveats*: writes of other processes appear when the watch delivers them. Read a record that must be current from the
 * collection.
 */
export class CollectionView<T> {
  readonly #collection: Collection<T>;
  readonly #options: CollectionViewOptions<T>;
  readonly #stop = new AbortController();
  #records = new Map<string, Stored<T>>();
  #unreadable = new Map<string, Unreadable>();
  #revision = 0;
  #results = new Map<string, SortedList<Stored<T>>>();
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = [];
  #running: Promise<void> | undefined;
  #fault: Fault | undefined;

  constructor(collection: Collection<T>, options: CollectionViewOptions<T>) {
    this.#collection = collection;
    this.#options = options;
  }

  /** Loads all records, then watches. Resolves after the first load; rejects if it fails. */
  async start(options: CallOptions = {}): Promise<void> {
    await this.#load(options.signal);
    this.#running = this.#watch();
  }

  /** Returns a record of the view. */
  get(id: string): Stored<T> | undefined {
    return this.#records.get(id);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Returns all records in any order. */
  all(): Iterable<Stored<T>> {
    return this.#records.values();
  }

  /** Records that this version cannot read. */
  get unreadable(): readonly Unreadable[] {
    return [...this.#unreadable.values()];
  }

  /** Why the view is outdated; undefined while it follows the store. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Resolves when the view includes a revision that changed this collection. */
  async waitForRevision(revision: number, options: CallOptions = {}): Promise<void> {
    if (this.#revision >= revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ revision, resolve });
    await (options.signal ? orAbort(promise, options.signal) : promise);
  }

  /** Like `waitForRevision` with a time limit; resolves to whether the view includes the revision. */
  waitForRevisionWithin(revision: number, withinMs: number): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = {
        revision,
        resolve: () => {
          timer.cancel();
          resolve(true);
        },
      };
      const timer = this.#options.ambient.timers.after(withinMs, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        resolve(false);
      });
      this.#waiting.push(waiter);
    });
  }

  /**
   * Applies a record that the caller has committed before the watch delivers it, so that a writer reads its own write.
   * Newer records are kept.
   */
  applyWrite(written: Stored<T>): void {
    const { id, revision } = written;
    if (revision <= this.#revision || revision <= (this.#records.get(id)?.revision ?? 0)) return;
    this.#put(id, written);
    this.#options.onChange?.([id]);
  }

  /** Returns one page of matching records, limited in number and in bytes (`MAX_PAGE_BYTES`). */
  page(query: ViewQuery<T>): ViewPage<T> {
    const { order = "id", descending = false } = query;
    const { items, ...rest } = pageOf(this.#result(query, order, descending), {
      ...query,
      order,
      descending,
      bytesOf: ({ source }) => source.entry.value.length,
    });
    return { records: items, ...rest };
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    await this.#running;
  }

  #result(query: ViewQuery<T>, order: string, descending: boolean): SortedList<Stored<T>> {
    const { filter, filterKey } = query;
    const name =
      filter !== undefined && filterKey === undefined ? undefined : `${descending}|${order}|${filterKey ?? ""}`;
    const cached = name === undefined ? undefined : this.#results.get(name);
    if (cached) return cached;
    const textOf = order === "id" ? undefined : this.#options.orders?.[order];
    if (order !== "id" && textOf === undefined) throw new TypeError(`unknown order "${order}"`);
    const result = new SortedList(this.#records.values(), {
      keyOf: textOf ? (stored) => `${textOf(stored)}\u0000${stored.id}` : ({ id }) => id,
      includes: filter ?? (() => true),
      descending,
    });
    if (name !== undefined) {
      if (this.#results.size >= MAX_CACHED_RESULTS) this.#results.clear();
      this.#results.set(name, result);
    }
    return result;
  }

  async #load(signal: AbortSignal | undefined): Promise<void> {
    const records = new Map<string, Stored<T>>();
    const unreadable = new Map<string, Unreadable>();
    let after: string | undefined;
    let revision: number | undefined;
    do {
      const page = await this.#collection.list({
        ...(signal ? { signal } : {}),
        ...(after === undefined ? {} : { after }),
        ...(revision === undefined ? {} : { atRevision: revision }),
      });
      for (const stored of page.records) records.set(stored.id, stored);
      for (const bad of page.unreadable) unreadable.set(bad.id, bad);
      revision ??= page.revision;
      after = page.next;
    } while (after !== undefined);
    const changed = [...new Set([...this.#records.keys(), ...records.keys()])].filter(
      (id) => this.#records.get(id)?.revision !== records.get(id)?.revision,
    );
    this.#records = records;
    this.#unreadable = unreadable;
    this.#results.clear();
    this.#advance(revision, changed);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const { revision, changes } of this.#collection.watch(this.#revision + 1, { signal })) {
          this.#fault = undefined;
          this.#advance(
            revision,
            changes.filter((change) => this.#apply(change)).map(({ id }) => id),
          );
        }
      } catch (thrown) {
        if (signal.aborted) return;
        this.#fault = Fault.from(thrown);
        await sleep(this.#options.ambient.timers, RETRY_MS, signal).catch(() => undefined);
        await this.#load(signal).then(
          () => (this.#fault = undefined),
          (failed: unknown) => (this.#fault = Fault.from(failed)),
        );
      }
    }
  }

  /** Applies a change unless the view has a newer record. */
  #apply(change: CollectionChange<T>): boolean {
    const { id, revision } = change;
    if ((this.#records.get(id)?.revision ?? 0) >= revision) return false;
    this.#put(id, change.type === "put" ? change.stored : undefined);
    if (change.type === "unreadable") this.#unreadable.set(id, change);
    else if (this.#unreadable.size > 0) this.#unreadable.delete(id);
    return true;
  }

  #put(id: string, after: Stored<T> | undefined): void {
    const before = this.#records.get(id);
    if (after) this.#records.set(id, after);
    else this.#records.delete(id);
    for (const result of this.#results.values()) result.replace(before, after);
  }

  #advance(revision: number, changed: readonly string[]): void {
    this.#revision = Math.max(this.#revision, revision);
    if (this.#waiting.length > 0) this.#wake();
    if (changed.length > 0) this.#options.onChange?.(changed);
  }

  #wake(): void {
    const ready = this.#waiting.filter((waiter) => waiter.revision <= this.#revision);
    this.#waiting = this.#waiting.filter((waiter) => waiter.revision > this.#revision);
    for (const { resolve } of ready) resolve();
  }
}
