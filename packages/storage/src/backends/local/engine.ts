import { type Ambient, Fault } from "@oaas/foundation";
import { checkTransaction } from "../../port/check-requests.ts";
import { closedFault } from "../../port/store-faults.ts";
import type { ChangeEvent, Committed, LeaseId, Transaction } from "../../port/key-value-store.ts";
import { applyTransaction } from "./apply.ts";
import { History, type HistoryLimits } from "./history.ts";
import { LeaseTable } from "./lease-table.ts";
import type { Table } from "./table.ts";

export interface EngineOptions {
  readonly ambient: Ambient;
  readonly table: Table;
  readonly history: HistoryLimits;
  /** Schedules writes. By default each commit is written immediately; later scheduling lets commits share one sync. */
  readonly schedule?: (flush: () => void) => void;
  /** Schedules notifications of watchers; immediately by default. */
  readonly scheduleNotify?: ((notify: () => void) => void) | undefined;
}

interface Waiting {
  readonly transaction: Transaction;
  resolve(committed: Committed): void;
  reject(fault: unknown): void;
}

type Outcome = { readonly committed: Committed } | { readonly rejected: unknown };

const REVOKE_AGAIN_MS = 1000;

/**
 * Transactions, history and leases over a table that lives in this process.
 *
 * Flow: commit → queue → one `atomically` for all queued transactions (each with its own conditions and revision) →
 * history → acknowledgements and watchers.
 * Guarantees: nothing is acknowledged or delivered to a watcher before it is durable. If a batch fails, its
 * transactions are retried one by one, so that one failure does not affect the others. While the table cannot be used,
 * calls fail with its fault, and watches and leases continue.
 */
export class LocalEngine {
  readonly table: Table;
  readonly leases: LeaseTable;
  readonly #options: EngineOptions;
  readonly #watchers = new Set<() => void>();
  readonly #isLease = (lease: LeaseId): boolean => this.leases.has(lease);
  #history: History;
  #queue: Waiting[] = [];
  #notifying = false;
  #ended: Fault | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.table = options.table;
    this.#history = new History(options.table.savedRevision, options.history);
    this.leases = new LeaseTable(options.ambient, (lease) => this.#expire(lease));
  }

  get history(): History {
    return this.#history;
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /** Throws if the engine is closed. */
  assertOpen(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Throws if the engine is closed, or its table cannot be used for now. */
  assertUsable(): void {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.table.fault !== undefined) throw this.table.fault;
  }

  /**
   * Continues with a table that has changed outside of this engine: history starts again, which ends watches with
   * OAAS_STORE_COMPACTED, and all leases are lost.
   */
  restart(): void {
    this.leases.close();
    this.#history = new History(this.table.savedRevision, this.#options.history);
    this.#notify();
  }

  commit(transaction: Transaction): Promise<Committed> {
    this.assertUsable();
    checkTransaction(transaction);
    return this.#enqueue(transaction);
  }

  /** Ends a lease and deletes its keys. */
  async revoke(lease: LeaseId): Promise<void> {
    this.assertUsable();
    const keys = this.leases.end(lease);
    await this.#deleteAll(keys).catch((thrown: unknown) => {
      this.#deleteLater(keys);
      throw thrown;
    });
  }

  /** Calls back on each change and on close, until the returned function is called. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => void this.#watchers.delete(callback);
  }

  compact(revision: number): void {
    this.assertUsable();
    this.#history.compact(revision);
    this.#notify();
  }

  close(): void {
    if (this.#ended !== undefined) return;
    this.#flush();
    this.#end(closedFault());
  }

  #end(fault: Fault): void {
    this.#ended = fault;
    this.leases.close();
    for (const waiting of this.#queue.splice(0)) waiting.reject(fault);
    this.table.close();
    this.#notify();
  }

  #enqueue(transaction: Transaction): Promise<Committed> {
    const { schedule } = this.#options;
    return new Promise((resolve, reject) => {
      if (schedule === undefined) return resolve(this.#commitAlone(transaction));
      this.#queue.push({ transaction, resolve, reject });
      if (this.#queue.length === 1) schedule(() => this.#flush());
    });
  }

  #flush(): void {
    const batch = this.#queue;
    this.#queue = [];
    if (batch.length === 0) return;
    if (batch.length === 1 || !this.#tryBatch(batch)) for (const waiting of batch) this.#tryAlone(waiting);
    this.#scheduleNotify();
  }

  /** Returns false if the whole batch failed and its transactions can be tried one by one. */
  #tryBatch(batch: readonly Waiting[]): boolean {
    let outcomes: Outcome[];
    try {
      this.assertUsable();
      outcomes = this.#run(batch.map(({ transaction }) => transaction));
    } catch (thrown) {
      if (this.table.fault === undefined) return false;
      // Each of them may have been applied.
      for (const waiting of batch) waiting.reject(thrown);
      return true;
    }
    batch.forEach((waiting, index) => {
      const outcome = outcomes[index] as Outcome;
      if ("committed" in outcome) waiting.resolve(outcome.committed);
      else waiting.reject(outcome.rejected);
    });
    return true;
  }

  #tryAlone(waiting: Waiting): void {
    try {
      waiting.resolve(this.#commitAlone(waiting.transaction));
    } catch (thrown) {
      waiting.reject(thrown);
    }
  }

  #commitAlone(transaction: Transaction): Committed {
    this.assertUsable();
    let outcome: Outcome | undefined;
    try {
      [outcome] = this.#run([transaction]);
    } catch (thrown) {
      if (isFatal(thrown)) this.#end(Fault.from(thrown));
      throw thrown;
    }
    if (outcome === undefined || "rejected" in outcome) throw outcome?.rejected;
    this.#scheduleNotify();
    return outcome.committed;
  }

  #run(transactions: readonly Transaction[]): Outcome[] {
    const made: ChangeEvent[][] = [];
    const outcomes = this.table.atomically(() => this.#apply(transactions, made));
    for (const events of made) {
      this.#history.append(events);
      for (const event of events) this.leases.follow(event);
    }
    return outcomes;
  }

  #apply(transactions: readonly Transaction[], made: ChangeEvent[][]): Outcome[] {
    const outcomes: Outcome[] = [];
    let { revision } = this.#history;
    let isDeleting = false;
    for (const transaction of transactions) {
      try {
        const events = applyTransaction(this.table, transaction, revision + 1, this.#isLease);
        if (events.length > 0) {
          revision += 1;
          made.push(events);
          for (const { type } of events) isDeleting ||= type === "delete";
        }
        outcomes.push({ committed: { revision, changed: events.length > 0 } });
      } catch (thrown) {
        if (!isTransactionFault(thrown)) throw thrown;
        outcomes.push({ rejected: thrown });
      }
    }
    if (isDeleting) this.table.saveRevision(revision);
    return outcomes;
  }

  #expire(lease: LeaseId): void {
    const keys = this.leases.end(lease);
    void this.#deleteAll(keys).catch(() => this.#deleteLater(keys));
  }

  /** Retries the deletion of the keys of an expired lease, for example after the table was full. */
  #deleteLater(keys: readonly string[]): void {
    if (this.#ended !== undefined) return;
    this.#options.ambient.timers.after(REVOKE_AGAIN_MS, () => {
      if (this.#ended === undefined) void this.#deleteAll(keys).catch(() => this.#deleteLater(keys));
    });
  }

  async #deleteAll(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.#enqueue({ writes: keys.map((key) => ({ op: "delete", key })) });
  }

  #scheduleNotify(): void {
    const { scheduleNotify } = this.#options;
    if (scheduleNotify === undefined) return this.#notify();
    if (this.#notifying) return;
    this.#notifying = true;
    scheduleNotify(() => {
      this.#notifying = false;
      this.#notify();
    });
  }

  #notify(): void {
    for (const callback of this.#watchers) callback();
  }
}

/** Whether a fault concerns one transaction; other faults concern the table and the whole batch. */
function isTransactionFault(thrown: unknown): boolean {
  return thrown instanceof Fault && (thrown.kind === "conflict" || thrown.code === "OAAS_LEASE_LOST");
}

/** Whether the table cannot be used any more. */
function isFatal(thrown: unknown): boolean {
  return !(thrown instanceof Fault) || thrown.context["damaged"] === true;
}
