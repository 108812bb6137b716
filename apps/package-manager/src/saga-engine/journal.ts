import { backoffDelay, Fault, sleep, type Ambient, type Timer } from "@oaas/foundation";
import {
  conflictOf,
  combineTransactions,
  type Collection,
  type Condition,
  type KeyValueStore,
  type Stored,
} from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";
import type { FinalTransaction } from "./kind.ts";
import type { SagaOutcome, SagaRecord } from "./saga.ts";

/** Thrown when a saga was taken over or superseded, or its engine lost its lease. */
export class SagaOwnershipLost extends Error {
  override readonly name = "NoLongerOurs";
}

export interface JournalDeps {
  readonly store: KeyValueStore;
  readonly sagas: Collection<SagaRecord>;
  readonly ambient: Ambient;
  /** Holds as long as the store has the lease of the engine. */
  readonly fence: Condition;
  /** Aborts when the engine must not write any more. */
  readonly signal: AbortSignal;
}

/** Results of steps are written with this delay, to batch them. A lost result means that the step is performed again. */
const FLUSH_DELAY_MS = 50;

/**
 * The journal of one saga in the store.
 *
 * *Guarantees*: every write is fenced and conditional on the previous one, so at most one of two engines writes; changes
 * during a write are batched into the next; an unknown commit outcome is resolved by reading; a cancellation by another
 * process is merged in.
 */
export class Journal {
  readonly #deps: JournalDeps;
  #stored: Stored<SagaRecord>;
  #record: SagaRecord;
  #revision: number;
  #dirty = false;
  #writing: Promise<void> | undefined;
  #due: Timer | undefined;

  constructor(stored: Stored<SagaRecord>, deps: JournalDeps) {
    this.#stored = stored;
    this.#record = stored.record;
    this.#revision = stored.revision;
    this.#deps = deps;
  }

  /** The current saga, flushed or not. */
  get record(): SagaRecord {
    return this.#record;
  }

  /** The store revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  change(record: SagaRecord): void {
    this.#record = record;
    this.#dirty = true;
  }

  /** Schedules a flush. */
  scheduleFlush(onFailure: (thrown: unknown) => void): void {
    this.#due ??= this.#deps.ambient.timers.after(FLUSH_DELAY_MS, () => {
      this.flush().catch(onFailure);
    });
  }

  /** Resolves when everything changed so far is durable. */
  async flush(): Promise<void> {
    this.#cancelDue();
    while (this.#dirty || this.#writing !== undefined) {
      this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
      await this.#writing;
    }
  }

  /** Ends the saga; undefined when a late cancellation keeps it running. */
  async end(
    ending: { readonly outcome: SagaOutcome; readonly endedAt: string },
    finish: (saga: SagaRecord) => Promise<FinalTransaction>,
  ): Promise<SagaRecord | undefined> {
    this.#cancelDue();
    await this.#writing;
    for (let attempt = 0; ; attempt += 1) {
      const before = this.#record;
      const final: SagaRecord = {
        ...before,
        state: ending.outcome,
        endedAt: ending.endedAt,
        sequence: before.sequence + 1,
      };
      try {
        const { transaction, forget = false } = await finish(final);
        if (await this.#commit(final, transaction, forget)) return final;
      } catch (thrown) {
        await this.#backOff(thrown, attempt);
        const written = await this.#reread(final, attempt);
        if (written === "gone" || written === "applied") return final;
      }
      if (this.#record.cancelledBy !== before.cancelledBy) return undefined;
    }
  }

  /** Cancels the scheduled flush. */
  close(): void {
    this.#cancelDue();
  }

  #cancelDue(): void {
    this.#due?.cancel();
    this.#due = undefined;
  }

  async #write(): Promise<void> {
    this.#dirty = false;
    for (let attempt = 0; ; attempt += 1) {
      const next: SagaRecord = { ...this.#record, sequence: this.#stored.record.sequence + 1 };
      try {
        if (await this.#commit(next, { writes: [] }, false)) return;
      } catch (thrown) {
        await this.#backOff(thrown, attempt);
        const written = await this.#reread(next, attempt);
        if (written === "gone") throw new SagaOwnershipLost("the journal was deleted");
        if (written === "applied") return;
      }
    }
  }

  /** False when a condition outside the journal failed: build the final writes again. */
  async #commit(next: SagaRecord, also: FinalTransaction["transaction"], forget: boolean): Promise<boolean> {
    const { store, sagas, fence, signal } = this.#deps;
    if (signal.aborted) throw new SagaOwnershipLost("the saga was abandoned");
    const staged = forget ? undefined : sagas.stageUpdate(this.#stored, next);
    const own = staged ?? sagas.stageDelete(this.#stored);
    try {
      const { revision } = await store.commit(combineTransactions(own, { conditions: [fence], writes: [] }, also));
      this.#revision = revision;
      if (staged) this.#stored = sagas.committed(staged, revision, this.#stored);
      this.#record = { ...this.#record, sequence: next.sequence };
      return true;
    } catch (thrown) {
      const conflict = conflictOf(thrown);
      if (conflict === undefined) throw thrown;
      if (conflict.key === fence.key) throw new SagaOwnershipLost("the engine lost its lease", { cause: thrown });
      if (conflict.key === this.#stored.source.entry.key || conflict.outcomeUnknown) throw thrown;
      return false;
    }
  }

  /** Reads the outcome of a write and merges a cancellation. Any other change was made by another writer. */
  async #reread(attempted: SagaRecord, tries: number): Promise<"applied" | "not-applied" | "gone"> {
    const { sagas, signal } = this.#deps;
    for (let attempt = tries; ; attempt += 1) {
      if (signal.aborted) throw new SagaOwnershipLost("the saga was abandoned");
      try {
        const found = await sagas.get(this.#record.subject);
        if (found === undefined) return "gone";
        const { id, owner, sequence, cancelledBy } = found.record;
        const applied = sequence === attempted.sequence;
        const expected = applied || sequence === this.#stored.record.sequence;
        if (id !== attempted.id || owner !== attempted.owner || !expected) {
          throw new SagaOwnershipLost("the saga was superseded or taken over");
        }
        this.#stored = found;
        this.#revision = found.revision;
        this.#record = { ...this.#record, sequence, ...(cancelledBy === undefined ? {} : { cancelledBy }) };
        return applied ? "applied" : "not-applied";
      } catch (thrown) {
        await this.#backOff(thrown, attempt);
      }
    }
  }

  /** Waits before the next attempt; throws when a retry cannot help. A conflict is resolved by reading, without a wait. */
  async #backOff(thrown: unknown, attempt: number): Promise<void> {
    if (thrown instanceof SagaOwnershipLost) throw thrown;
    if (conflictOf(thrown) !== undefined) return;
    const fault = Fault.from(thrown);
    if (!fault.retryable) throw fault;
    const { ambient, signal } = this.#deps;
    try {
      await sleep(ambient.timers, backoffDelay(BACKOFF.sagaJournal, attempt, ambient.random), signal);
    } catch {
      throw new SagaOwnershipLost("the saga was abandoned");
    }
  }
}
