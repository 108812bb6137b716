import type { AuditEntry } from "@oaas/contracts/rest";
import { Fault, invalidArgument, unavailable, type Ambient, type Timer } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { MAX_PAGE, type KeyValueStore } from "@oaas/storage";
import { boundedPage } from "../paging.ts";
import type { AuditQuery, ListPage } from "../use-cases.ts";

const PREFIX = "audit/";
/** Entries in one transaction. */
const BATCH = 100;
/** Entries that wait for the store; beyond that changes are refused. */
const MAX_WAITING = 2_000;
/** How long the end of an attempt waits, to be stored in the transaction of the next attempt. */
const LATER_MS = 200;
const RETRY_MS = 1_000;
/** Entries that one request reads. */
const MAX_SCANNED = 20_000;
const SCAN_PAGE = 500;

export interface AuditStoreOptions {
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Entries to keep; older ones are deleted. */
  readonly keep: number;
}

interface Waiting {
  readonly entry: AuditEntry;
  readonly settle: ((fault?: Fault) => void) | undefined;
}

/**
 * The newest audit entries, shared by all processes on the store. Keys sort newer attempts first.
 *
 * *Guarantees*: entries that wait at the same time share a transaction, so that an attempt costs about one write.
 */
export class AuditStore {
  readonly #options: AuditStoreOptions;
  readonly #waiting = new Map<string, Waiting>();
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #sinceTrim = 0;
  #trimming: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: AuditStoreOptions) {
    this.#options = options;
  }

  /** Throws unavailable when too many entries wait for the store. */
  assertSpace(): void {
    if (this.#waiting.size < MAX_WAITING) return;
    throw unavailable("audit store", `${this.#waiting.size} audit entries wait for the store`);
  }

  /** Stores an entry under a key; resolves when it is durable. */
  put(key: string, entry: AuditEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (fault?: Fault): void => (fault === undefined ? resolve() : reject(fault));
      this.#waiting.set(PREFIX + key, { entry, settle });
      this.#start();
    });
  }

  /** Stores an entry with the next one that is durable at once, or in a moment. A failed write is repeated. */
  putLater(key: string, entry: AuditEntry): void {
    this.#waiting.set(PREFIX + key, { entry, settle: undefined });
    this.#startAfter(LATER_MS);
  }

  /** Stores what waits. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#start();
    await this.#running;
    await this.#trimming;
  }

  /** The entries that match, newest first, with all of this process. A page may be short although more follow. */
  async list(query: AuditQuery): Promise<ListPage<AuditEntry>> {
    const { limit } = boundedPage(query);
    this.#start();
    await this.#running;
    const items: AuditEntry[] = [];
    let total = 0;
    let scanned = 0;
    let after = query.pageToken === undefined ? undefined : keyOfToken(query.pageToken);
    const fits = matcher(query);
    for (let isFirst = true; ; isFirst = false) {
      const page = await this.#options.store.range({
        prefix: PREFIX,
        limit: SCAN_PAGE,
        count: isFirst,
        ...(after === undefined ? {} : { after }),
      });
      total = page.total ?? total;
      for (const [index, { key, value }] of page.entries.entries()) {
        const entry = entryOf(value);
        if (entry !== undefined && query.since !== undefined && timeOf(key) < query.since) return { items, total };
        scanned += 1;
        if (entry !== undefined && fits(entry)) items.push(entry);
        const isLast = page.next === undefined && index === page.entries.length - 1;
        if (!isLast && (items.length === limit || scanned === MAX_SCANNED)) return { items, total, next: tokenOf(key) };
      }
      after = page.next;
      if (after === undefined) return { items, total };
    }
  }

  #startAfter(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#options.ambient.timers.after(delayMs, () => this.#start());
  }

  #start(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    // Requests of the same turn of the event loop share the first transaction.
    await Promise.resolve();
    while (this.#waiting.size > 0 && (await this.#storeBatch())) continue;
    // In the same turn as the last check, so that no entry is left behind.
    this.#isRunning = false;
  }

  /** Stores the entries that have waited longest; false when that failed and is repeated later. */
  async #storeBatch(): Promise<boolean> {
    const batch = [...this.#waiting].slice(0, BATCH);
    for (const [key] of batch) this.#waiting.delete(key);
    const fault = await this.#commit(batch);
    for (const [key, waiting] of batch) {
      waiting.settle?.(fault);
      // A newer entry of the same attempt replaces it.
      if (fault !== undefined && waiting.settle === undefined && !this.#waiting.has(key))
        this.#waiting.set(key, waiting);
    }
    this.#trimIfDue();
    if (fault === undefined) return true;
    this.#options.logger.warn("store audit entries failed", { entries: batch.length, fault });
    this.#startAfter(RETRY_MS);
    return false;
  }

  async #commit(batch: readonly (readonly [string, Waiting])[]): Promise<Fault | undefined> {
    const writes = batch.map(([key, { entry }]) => ({ op: "put", key, value: JSON.stringify(entry) }) as const);
    try {
      await this.#options.store.commit({ writes });
    } catch (thrown) {
      return Fault.from(thrown);
    }
    this.#sinceTrim += batch.length;
    return undefined;
  }

  /** In the background: no change waits for it. */
  #trimIfDue(): void {
    if (this.#sinceTrim <= this.#options.keep / 10) return;
    this.#sinceTrim = 0;
    this.#trimming = this.#trim().catch((thrown: unknown) =>
      this.#options.logger.warn("delete old audit entries failed", { fault: Fault.from(thrown) }),
    );
  }

  /** Deletes the entries after the newest ones. */
  async #trim(): Promise<void> {
    const { store, keep } = this.#options;
    let after: string | undefined;
    for (let kept = 0; kept < keep;) {
      const page = await store.range({ prefix: PREFIX, keysOnly: true, ...pageAfter(after, keep - kept) });
      if (page.next === undefined) return;
      kept += page.entries.length;
      after = page.next;
    }
    for (;;) {
      const { entries } = await store.range({ prefix: PREFIX, keysOnly: true, ...pageAfter(after, BATCH) });
      if (entries.length === 0) return;
      await store.commit({ writes: entries.map(({ key }) => ({ op: "delete", key })) });
    }
  }
}

function pageAfter(after: string | undefined, limit: number) {
  return { limit: Math.min(limit, MAX_PAGE), ...(after === undefined ? {} : { after }) };
}

function matcher({ actor, action, target, outcome }: AuditQuery): (entry: AuditEntry) => boolean {
  return (entry) =>
    (actor === undefined || entry.actor.subject === actor || entry.actor.name === actor) &&
    (action === undefined || entry.action === action) &&
    (target === undefined || entry.target.includes(target)) &&
    (outcome === undefined || entry.outcome === outcome);
}

function entryOf(value: string): AuditEntry | undefined {
  try {
    return JSON.parse(value) as AuditEntry;
  } catch {
    return undefined;
  }
}

const TIME_DIGITS = 15;

function timeOf(key: string): number {
  return 10 ** TIME_DIGITS - 1 - Number(key.slice(PREFIX.length, PREFIX.length + TIME_DIGITS));
}

function tokenOf(key: string): string {
  return key.slice(PREFIX.length);
}

function keyOfToken(token: string): string {
  if (/^\d{15}-[\w-]{1,64}-\d{15}$/.test(token)) return PREFIX + token;
  throw invalidArgument("the page token", [
    { path: "$.page_token", message: "is not a token of this list", fix: "omit it to start at the first page" },
  ]);
}
