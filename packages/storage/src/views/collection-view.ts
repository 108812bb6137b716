import { Fault, orAbort, sleep, type Ambient } from "@oaas/foundation";
import type { Collection } from "../collections/collection.ts";
import type { CallOptions } from "../port/key-value-store.ts";
import { pageOf, type PageQuery } from "./ordered-page.ts";
import type { CollectionChange, Stored, Unreadable } from "../collections/records.ts";
import { SortedList } from "./sorted-list.ts";

/** How the records of a view may be ordered: by a text of each, ties by id. */
export type Orders<T> = Readonly<Record<string, (stored: Stored<T>) => string>>;

export interface ViewQuery<T> extends PageQuery {
  /** What to keep; everything when left out. Must be pure, and say the same for the same `filterKey`. */
  readonly filter?: (stored: Stored<T>) => boolean;
  /** Names the filter, so that its result is kept rather than computed for each page. */
  readonly filterKey?: string;
  /** One of the view's orders; by id when left out. */
  readonly order?: string;
  readonly descending?: boolean;
}

export interface ViewPage<T> {
  readonly records: readonly Stored<T>[];
  /** Of everything that matches. */
  readonly total: number;
  readonly next?: string;
}

export interface CollectionViewOptions<T> {
  readonly ambient: Ambient;
  readonly orders?: Orders<T>;
  /** Told after each batch of changes has been taken in: ids of what changed or went. */
  readonly onChange?: (ids: readonly string[]) => void;
}

/** Sorted results that are kept, and changed along with the records. */
const KEPT_RESULTS = 32;
const RETRY_MS = 500;

/**
 * A whole collection in memory, kept by watching it: lists with any filter, order and page without reading the store.
 *
 * *Guarantees*: after `reached(r)` every read shows the changes up to revision r, after `show` that one record as it was written; a page token stays right while records come and go.
 * *Caveats*: what another process wrote shows as soon as the watch tells it, not at once. Single records that must be
 * current are read from the collection.
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
  #trouble: Fault | undefined;

  constructor(collection: Collection<T>, options: CollectionViewOptions<T>) {
    this.#collection = collection;
    this.#options = options;
  }

  /** Loads everything, then follows. Resolves when the first load is complete; rejects when that failed. */
  async start(options: CallOptions = {}): Promise<void> {
    await this.#load(options.signal);
    this.#running = this.#follow();
  }

  /** The record as the view has it. */
  get(id: string): Stored<T> | undefined {
    return this.#records.get(id);
  }

  get size(): number {
    return this.#records.size;
  }

  /** All records, in no order. */
  all(): Iterable<Stored<T>> {
    return this.#records.values();
  }

  /** Records that this build cannot read. */
  get unreadable(): readonly Unreadable[] {
    return [...this.#unreadable.values()];
  }

  /** Why the view cannot follow the store at the moment; undefined when it does. */
  get trouble(): Fault | undefined {
    return this.#trouble;
  }

  /** Resolves when the view shows a revision at which this collection changed. */
  async reached(revision: number, options: CallOptions = {}): Promise<void> {
    if (this.#revision >= revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ revision, resolve });
    await (options.signal ? orAbort(promise, options.signal) : promise);
  }

  /** Whether the view shows a revision at which this collection changed, as soon as it does or after this long. */
  reachedWithin(revision: number, withinMs: number): Promise<boolean> {
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
   * Shows a record that the caller has committed without waiting for the watch, so that a writer finds what it wrote. What the watch
   * has told already, or somebody else showed since, stays.
   */
  show(written: Stored<T>): void {
    const { id, revision } = written;
    if (revision <= this.#revision || revision <= (this.#records.get(id)?.revision ?? 0)) return;
    this.#put(id, written);
    this.#options.onChange?.([id]);
  }

  /** One page of what matches, in order. */
  page(query: ViewQuery<T>): ViewPage<T> {
    const { order = "id", descending = false } = query;
    const { items, ...rest } = pageOf(this.#result(query, order, descending), { ...query, order, descending });
    return { records: items, ...rest };
  }

  /** Stops following. Repeatable. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    await this.#running;
  }

  #result(query: ViewQuery<T>, order: string, descending: boolean): SortedList<Stored<T>> {
    const { filter, filterKey } = query;
    const name =
      filter !== undefined && filterKey === undefined ? undefined : `${descending}|${order}|${filterKey ?? ""}`;
    const kept = name === undefined ? undefined : this.#results.get(name);
    if (kept) return kept;
    const textOf = order === "id" ? undefined : this.#options.orders?.[order];
    if (order !== "id" && textOf === undefined) throw new TypeError(`the view has no order "${order}"`);
    const result = new SortedList(this.#records.values(), {
      keyOf: textOf ? (stored) => `${textOf(stored)}\u0000${stored.id}` : ({ id }) => id,
      includes: filter ?? (() => true),
      descending,
    });
    if (name !== undefined) {
      if (this.#results.size >= KEPT_RESULTS) this.#results.clear();
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

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const { revision, changes } of this.#collection.watch(this.#revision + 1, { signal })) {
          this.#trouble = undefined;
          this.#advance(
            revision,
            changes.filter((change) => this.#take(change)).map(({ id }) => id),
          );
        }
      } catch (thrown) {
        if (signal.aborted) return;
        this.#trouble = Fault.from(thrown);
        await sleep(this.#options.ambient.timers, RETRY_MS, signal).catch(() => undefined);
        await this.#load(signal).then(
          () => (this.#trouble = undefined),
          (failed: unknown) => (this.#trouble = Fault.from(failed)),
        );
      }
    }
  }

  /** Takes a change in, unless its record is shown as it is then or later. */
  #take(change: CollectionChange<T>): boolean {
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
