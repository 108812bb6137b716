import { cancelled, failedPrecondition, Fault, KeyedQueue, type Ambient, type BackoffPolicy } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { Collection, KeyValueStore, Stored } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";
import type { EngineInstance } from "./instance.ts";
import { Journal, SagaOwnershipLost } from "./journal.ts";
import type { SagaKind } from "./kind.ts";
import { RetryBudget, type RetryBudgetLimits } from "./retry-budget.ts";
import { SagaRun } from "./run.ts";
import { isOpen, type SagaRecord } from "./saga.ts";
import { Waiters } from "./waiters.ts";

export interface ActiveRunsOptions {
  readonly store: KeyValueStore;
  readonly sagas: Collection<SagaRecord>;
  readonly instance: EngineInstance;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly retries: number;
  readonly policy?: BackoffPolicy;
  readonly budget?: RetryBudgetLimits;
  readonly maxStepsPerTarget?: number;
}

interface Active {
  readonly id: string;
  readonly abandon: AbortController;
  readonly done: Promise<void>;
  run?: SagaRun;
  /** Who cancelled it, maybe before there was a run. */
  cancelledBy?: string;
  /** Seen while this run was on its way out. */
  next?: Stored<SagaRecord>;
  /** Of the store: where it began, and in the end where it left its journal. */
  revision: number;
}

/**
 * The sagas that this engine has under way: one per subject.
 *
 * *Guarantees*: whatever is told of a subject, however often and however late, the newest saga of it is run, once, after its
 * predecessor has nothing under way any more.
 */
export class ActiveRuns {
  readonly waiters = new Waiters();
  readonly #options: ActiveRunsOptions;
  readonly #kinds = new Map<string, SagaKind>();
  readonly #active = new Map<string, Active>();
  /** Where the last run of a subject left its journal, until the news have come as far. */
  readonly #past = new Map<string, number>();
  readonly #queue: KeyedQueue;
  readonly #budget: RetryBudget;
  #isClosing = false;

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
    this.#queue = new KeyedQueue(options.maxStepsPerTarget ?? 32);
    this.#budget = new RetryBudget(options.budget);
  }

  register(kind: SagaKind): void {
    this.#kinds.set(kind.name, kind);
  }

  /** The id of the saga that is under way here for a subject. */
  idOf(subject: string): string | undefined {
    return this.#active.get(subject)?.id;
  }

  /** Begins nothing more, and lets what is under way stop at its next step. */
  pause(): void {
    this.#isClosing = true;
    for (const active of this.#active.values()) active.run?.pause();
  }

  /** Gives everything up at once. */
  abandon(): void {
    for (const active of this.#active.values()) active.abandon.abort(cancelled());
  }

  /** Resolves when nothing that is under way now is any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#active.values()].map((active) => active.done));
  }

  /** Takes in what the store has, or had, for a subject. */
  see(subject: string, stored: Stored<SagaRecord> | undefined): void {
    const active = this.#active.get(subject);
    if (stored === undefined) {
      // An old deletion may be told late, after the subject was made anew.
      if (active === undefined) this.lookFor(subject);
      return;
    }
    if (stored.revision < (this.#past.get(subject) ?? 0)) return;
    this.#past.delete(subject);
    this.waiters.tell(subject, stored);
    const mine = this.#options.instance.key;
    const { id, owner, cancelledBy } = stored.record;
    if (active === undefined) {
      if (owner === mine && isOpen(stored.record) && !this.#isClosing) this.#begin(stored);
    } else if (stored.revision > active.revision) {
      if (id !== active.id || owner !== mine) {
        active.next = stored;
        active.abandon.abort(cancelled());
      } else if (cancelledBy !== undefined) {
        active.cancelledBy = cancelledBy;
        active.run?.cancel(cancelledBy);
      }
    }
  }

  /** Reads what the store has now; silent when it cannot be read, as the next look comes by itself. */
  lookFor(subject: string): void {
    this.#options.sagas.get(subject).then(
      (stored) => {
        if (stored !== undefined) return this.see(subject, stored);
        this.#past.delete(subject);
        this.waiters.tellGone(subject);
      },
      () => undefined,
    );
  }

  #begin(stored: Stored<SagaRecord>): void {
    const { id, subject } = stored.record;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const active: Active = { id, abandon: new AbortController(), done, revision: stored.revision };
    this.#active.set(subject, active);
    void this.#run(stored, active).then((ended) => {
      this.#active.delete(subject);
      this.#past.set(subject, active.revision);
      if (ended !== undefined) this.waiters.tellEnded(ended);
      resolve();
      if (active.next !== undefined) this.see(subject, active.next);
    });
  }

  /** Never rejects: what fails here is taken up again by the next look at the open sagas. */
  async #run(stored: Stored<SagaRecord>, active: Active): Promise<SagaRecord | undefined> {
    const { store, sagas, ambient, instance, logger, retries, policy = BACKOFF.sagaStep } = this.#options;
    const { abandon } = active;
    let journal: Journal | undefined;
    try {
      const { fence } = instance;
      const kind = this.#kinds.get(stored.record.kind);
      if (kind === undefined) throw failedPrecondition("saga", `there is no saga kind "${stored.record.kind}" here`);
      const work = await kind.open(stored.record);
      journal = new Journal(stored, { store, sagas, ambient, fence, signal: abandon.signal });
      active.run = new SagaRun(journal, work, {
        ambient,
        queue: this.#queue,
        budget: this.#budget,
        retries,
        policy,
        assertAlive: () => instance.assertAlive(),
        abandon,
      });
      if (active.cancelledBy !== undefined) active.run.cancel(active.cancelledBy);
      if (this.#isClosing) active.run.pause();
      return await active.run.run();
    } catch (thrown) {
      if (thrown instanceof SagaOwnershipLost) instance.isLeaseLost(thrown.cause);
      else {
        logger.error("a saga stopped and will be taken up again", { error: Fault.from(thrown) });
      }
      return undefined;
    } finally {
      journal?.close();
      active.revision = journal?.revision ?? stored.revision;
    }
  }
}
