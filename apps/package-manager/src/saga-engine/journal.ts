import { backoffDelay, Fault, sleep, type Ambient, type Timer } from "@oaas/foundation";
import { conflictOf, together, type Collection, type Condition, type KeyValueStore, type Stored } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";
import type { FinalTransaction } from "./kind.ts";
import type { SagaOutcome, SagaRecord } from "./saga.ts";

/** Thrown when a saga was taken over, replaced, or its engine is no longer alive in the eyes of the store. */
export class SagaOwnershipLost extends Error {
  override readonly name = "NoLongerOurs";
}

export interface JournalDeps {
  readonly store: KeyValueStore;
  readonly sagas: Collection<SagaRecord>;
  readonly ambient: Ambient;
  /** Holds as long as the engine is alive in the eyes of the store. */
  readonly fence: Condition;
  /** Aborts when nothing may be written any more. */
  readonly signal: AbortSignal;
}

/** What came of a step may be written this much later, together with what comes of others: lost, it is done again. */
const SOON_MS = 50;

/**
 * The written course of one saga.
 *
 * *Guarantees*: every write is fenced and conditional on the one before, so of two engines at most one writes; changes made while a
 * write is under way go together into the next; a lost answer is settled by reading; a cancellation from outside is taken in.
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

  /** The saga as it is now, written or about to be. */
  get record(): SagaRecord {
    return this.#record;
  }

  /** The store's revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  change(record: SagaRecord): void {
    this.#record = record;
    this.#dirty = true;
  }

  /** Writes what was changed before long, with what changes until then. */
  flushSoon(onFailure: (thrown: unknown) => void): void {
    this.#due ??= this.#deps.ambient.timers.after(SOON_MS, () => {
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

  /** Ends the saga; undefined when it was cancelled in the last moment and goes on. */
  async end(
    ending: { readonly outcome: SagaOutcome; readonly endedAt: string },
    settle: (saga: SagaRecord) => Promise<FinalTransaction>,
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
        const { transaction, forget = false } = await settle(final);
        if (await this.#commit(final, transaction, forget)) return final;
      } catch (thrown) {
        await this.#rest(thrown, attempt);
        const written = await this.#reread(final, attempt);
        if (written === "gone" || written === "applied") return final;
      }
      if (this.#record.cancelledBy !== before.cancelledBy) return undefined;
    }
  }

  /** Nothing is written later than it is known to be of no use. */
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
        await this.#rest(thrown, attempt);
        const written = await this.#reread(next, attempt);
        if (written === "gone") throw new SagaOwnershipLost("the journal is gone");
        if (written === "applied") return;
      }
    }
  }

  /** False when a condition outside the journal failed: settle again. */
  async #commit(next: SagaRecord, also: FinalTransaction["transaction"], forget: boolean): Promise<boolean> {
    const { store, sagas, fence, signal } = this.#deps;
    if (signal.aborted) throw new SagaOwnershipLost("the engine gave the saga up");
    const staged = forget ? undefined : sagas.stageUpdate(this.#stored, next);
    const own = staged ?? sagas.stageDelete(this.#stored);
    try {
      const { revision } = await store.commit(together(own, { conditions: [fence], writes: [] }, also));
      this.#revision = revision;
      if (staged) this.#stored = sagas.committed(staged, revision, this.#stored);
      this.#record = { ...this.#record, sequence: next.sequence };
      return true;
    } catch (thrown) {
      const conflict = conflictOf(thrown);
      if (conflict === undefined) throw thrown;
      if (conflict.key === fence.key) throw new SagaOwnershipLost("the engine's lease is over", { cause: thrown });
      if (conflict.key === this.#stored.source.entry.key || conflict.outcomeUnknown) throw thrown;
      return false;
    }
  }

  /** Reads what became of a write, and takes in a cancellation. Anything else that moved is another writer's work. */
  async #reread(attempted: SagaRecord, tries: number): Promise<"applied" | "not-applied" | "gone"> {
    const { sagas, signal } = this.#deps;
    for (let attempt = tries; ; attempt += 1) {
      if (signal.aborted) throw new SagaOwnershipLost("the engine gave the saga up");
      try {
        const found = await sagas.get(this.#record.subject);
        if (found === undefined) return "gone";
        const { id, owner, sequence, cancelledBy } = found.record;
        const applied = sequence === attempted.sequence;
        const expected = applied || sequence === this.#stored.record.sequence;
        if (id !== attempted.id || owner !== attempted.owner || !expected) {
          throw new SagaOwnershipLost("another saga, or another writer of this one, took its place");
        }
        this.#stored = found;
        this.#revision = found.revision;
        this.#record = { ...this.#record, sequence, ...(cancelledBy === undefined ? {} : { cancelledBy }) };
        return applied ? "applied" : "not-applied";
      } catch (thrown) {
        await this.#rest(thrown, attempt);
      }
    }
  }

  /** Waits before the next try, unless trying again is pointless. A conflict is told by reading, without a wait. */
  async #rest(thrown: unknown, attempt: number): Promise<void> {
    if (thrown instanceof SagaOwnershipLost) throw thrown;
    if (conflictOf(thrown) !== undefined) return;
    const fault = Fault.from(thrown);
    if (!fault.retryable) throw fault;
    const { ambient, signal } = this.#deps;
    try {
      await sleep(ambient.timers, backoffDelay(BACKOFF.sagaJournal, attempt, ambient.random), signal);
    } catch {
      throw new SagaOwnershipLost("the engine gave the saga up");
    }
  }
}
