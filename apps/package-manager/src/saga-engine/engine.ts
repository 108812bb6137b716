import {
  cancelled,
  failedPrecondition,
  Fault,
  sleep,
  startDeadline,
  timestamp,
  type Ambient,
  type BackoffPolicy,
} from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import {
  absent,
  Collection,
  CollectionView,
  conflictOf,
  MAX_OPERATIONS,
  present,
  together,
  type CollectionDefinition,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { EngineInstance } from "./instance.ts";
import { Journal, NoLongerOurs } from "./journal.ts";
import type { SagaKind } from "./kind.ts";
import { Lanes } from "./lanes.ts";
import { RetryBudget, type RetryBudgetLimits } from "./retry-budget.ts";
import { SagaRun } from "./run.ts";
import { isOpen, stepsToPerform, withSteps, type NewSaga, type SagaRecord } from "./saga.ts";
import { Waiters, type SagaReference, type Waited } from "./waiters.ts";

export interface SagaEngineOptions {
  readonly store: KeyValueStore;
  readonly definition: CollectionDefinition<SagaRecord>;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Tries of one step after the first (`DEPLOY_MAX_RETRIES`). */
  readonly retries: number;
  readonly policy?: BackoffPolicy;
  readonly budget?: RetryBudgetLimits;
  /** Steps under way on one target, over all sagas. */
  readonly laneWidth?: number;
  /** How long after its death the sagas of an engine are taken over by another. */
  readonly leaseMs?: number;
  /** Told of each saga, of whatever engine, that came along or ended; undefined when its subject is gone. Must not throw. */
  readonly onProgress?: (subject: string, saga: SagaRecord | undefined) => void;
}

/** A saga ready to be written together with what it belongs to. */
export interface StagedSaga {
  readonly id: string;
  readonly transaction: Transaction;
  /** To be called as soon as the transaction is committed. */
  launch(revision: number): SagaReference;
}

interface Active {
  readonly id: string;
  readonly abandon: AbortController;
  readonly done: Promise<void>;
  run?: SagaRun;
  /** Seen while this run was on its way out. */
  next?: Stored<SagaRecord>;
  revision: number;
}

const RETRY_POLICY: BackoffPolicy = { baseMs: 200, capMs: 5_000, factor: 2, jitter: 0.5 };

/**
 * Runs sagas that are written to the store, its own and those of engines that died.
 *
 * ```
 *   stage + commit ─▶ launch ─▶ run ─▶ ended
 *                        ▲        └─▶ given up: lease lost, or a newer saga of the subject
 *   view of all sagas ───┤
 *   adoption (interval) ─┘
 * ```
 *
 * *Guarantees*: one saga of a subject at a time, on one engine; every open saga is run by some engine as long as one lives; a
 * superseded saga has no effect under way when its successor begins, unless its engine died.
 */
export class SagaEngine {
  readonly #options: SagaEngineOptions;
  readonly #sagas: Collection<SagaRecord>;
  readonly #view: CollectionView<SagaRecord>;
  readonly #instance: EngineInstance;
  readonly #kinds = new Map<string, SagaKind>();
  readonly #active = new Map<string, Active>();
  /** Where the last run of a subject left its journal, until the view has come as far. */
  readonly #past = new Map<string, number>();
  readonly #waiters = new Waiters();
  readonly #lanes: Lanes;
  readonly #budget: RetryBudget;
  readonly #closing = new AbortController();
  readonly #leaseMs: number;
  #living: Promise<void> | undefined;

  constructor(options: SagaEngineOptions) {
    const { store, definition, ambient, leaseMs = 10_000, laneWidth = 32, budget } = options;
    this.#options = options;
    this.#sagas = new Collection(store, definition);
    this.#view = new CollectionView(this.#sagas, {
      ambient,
      onChange: (subjects) => {
        for (const subject of subjects) {
          const stored = this.#view.get(subject);
          this.#see(subject, stored);
          options.onProgress?.(subject, stored?.record);
        }
      },
    });
    this.#leaseMs = leaseMs;
    this.#instance = new EngineInstance(store, ambient, leaseMs);
    this.#lanes = new Lanes(laneWidth);
    this.#budget = new RetryBudget(budget);
  }

  /** Makes a kind known; before the start. */
  register(kind: SagaKind): void {
    this.#kinds.set(kind.name, kind);
  }

  /** Begins to live, then runs what was left by those who died. */
  async start(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#view.start(options);
    const lost = await this.#instance.begin(options.signal ?? this.#closing.signal);
    await this.#adopt();
    this.#living = this.#live(lost);
  }

  /** Lets steps under way end, at most `graceMs`, then gives up the lease; what is left is another's, or the next start's. */
  async close(graceMs = 5_000): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(cancelled());
    for (const active of this.#active.values()) active.run?.pause();
    const done = Promise.allSettled([...this.#active.values()].map((active) => active.done));
    const grace = this.#options.ambient.timers.after(graceMs, () => this.#abandonAll());
    await done;
    grace.cancel();
    await this.#living;
    await this.#view.close();
    await this.#instance.end().catch(() => undefined);
    this.#waiters.close();
  }

  /** The saga of a subject, read from the store. */
  async get(subject: string): Promise<Stored<SagaRecord> | undefined> {
    return this.#sagas.get(subject);
  }

  /** The saga of a subject as this process last heard of it. */
  peek(subject: string): SagaRecord | undefined {
    return this.#view.get(subject)?.record;
  }

  /**
   * Stages a saga in the place of `current`.
   *
   * A saga under way on another engine that lives is replaced in place, so that the same engine runs the successor after it.
   */
  async stage(current: Stored<SagaRecord> | undefined, saga: NewSaga): Promise<StagedSaga> {
    const { ambient, store } = this.#options;
    const { fence } = this.#instance;
    const me = fence.key;
    const runner = current !== undefined && isOpen(current.record) ? current.record.owner : me;
    const alive = runner !== me && (await store.get(runner)) !== undefined;
    const record = newRecord(saga, {
      id: ambient.ids.uuid(),
      owner: alive ? runner : me,
      startedAt: timestamp(ambient.clock.now()),
    });
    const staged =
      current === undefined ? this.#sagas.stageCreate(saga.subject, record) : this.#sagas.stageUpdate(current, record);
    return {
      id: record.id,
      transaction: together(staged, { conditions: [fence, ...(alive ? [present(runner)] : [])], writes: [] }),
      launch: (revision) => {
        this.#see(saga.subject, this.#sagas.committed(staged, revision, current));
        return { subject: saga.subject, id: record.id, revision };
      },
    };
  }

  /** Waits until this very saga ended or another took its place, at most `timeoutMs`. */
  async wait(
    saga: SagaReference,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Waited> {
    using deadline = startDeadline(this.#options.ambient, options.timeoutMs, options.signal);
    const told = this.#waiters.wait(saga, deadline.signal);
    if (this.#active.get(saga.subject)?.id !== saga.id) this.#lookFor(saga.subject);
    return await told;
  }

  /** Asks a running saga to stop and undo what it did; failed-precondition when it is over. */
  async cancel(subject: string, id: string, by: string): Promise<void> {
    for (;;) {
      const stored = await this.#sagas.get(subject);
      if (stored?.record.id !== id || !isOpen(stored.record)) {
        throw failedPrecondition(subject, `the operation on ${subject} is over`);
      }
      if (stored.record.cancelledBy !== undefined) return;
      try {
        const next = await this.#sagas.update(stored, { ...stored.record, cancelledBy: by });
        this.#see(subject, next);
        return;
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.kind !== "conflict") throw thrown;
      }
    }
  }

  async #live(first: AbortSignal): Promise<void> {
    const { ambient } = this.#options;
    const closing = this.#closing.signal;
    let lost = first;
    while (!closing.aborted) {
      try {
        await sleep(ambient.timers, this.#leaseMs / 3, AbortSignal.any([lost, closing]));
        await this.#adopt();
      } catch (thrown) {
        if (closing.aborted) return;
        if (!lost.aborted) this.#report("sagas could not be looked through", thrown);
      }
      if (lost.aborted) lost = await this.#liveAgain().catch(() => lost);
    }
  }

  async #liveAgain(): Promise<AbortSignal> {
    this.#options.logger.warn("the lease of the saga engine is lost; its sagas are given up until there is a new one");
    this.#abandonAll();
    await Promise.allSettled([...this.#active.values()].map((active) => active.done));
    const lost = await this.#instance.begin(this.#closing.signal);
    await this.#adopt().catch((thrown: unknown) => this.#report("sagas could not be adopted", thrown));
    return lost;
  }

  #abandonAll(): void {
    for (const active of this.#active.values()) active.abandon.abort(cancelled());
  }

  /** Takes over the open sagas of engines that are no more, and takes up its own that nobody told it of. */
  async #adopt(): Promise<void> {
    const me = this.#instance.key;
    if (me === undefined) return;
    const open = [...this.#view.all()].filter(({ record }) => isOpen(record));
    for (const { record } of open) {
      if (record.owner === me && !this.#active.has(record.subject)) this.#lookFor(record.subject);
    }
    const others = [...new Set(open.map(({ record }) => record.owner))].filter((owner) => owner !== me);
    const owners = others.slice(0, MAX_OPERATIONS);
    const entries = await this.#options.store.getMany(owners);
    const dead = new Set(owners.filter((_, at) => entries[at] === undefined));
    for (const stored of open) if (dead.has(stored.record.owner)) await this.#take(stored);
  }

  async #take(stored: Stored<SagaRecord>): Promise<void> {
    const { fence } = this.#instance;
    const staged = this.#sagas.stageUpdate(stored, { ...stored.record, owner: fence.key });
    const conditions = [fence, absent(stored.record.owner)];
    try {
      const { revision } = await this.#options.store.commit(together(staged, { conditions, writes: [] }));
      this.#see(stored.id, this.#sagas.committed(staged, revision, stored));
    } catch (thrown) {
      // Another engine was faster, or it ended meanwhile.
      if (conflictOf(thrown) === undefined) throw thrown;
    }
  }

  /** Takes in what the store has for a subject, whoever tells it and however often. */
  #see(subject: string, stored: Stored<SagaRecord> | undefined): void {
    const active = this.#active.get(subject);
    if (stored === undefined) {
      // An old deletion may be told late, after the subject was made anew.
      if (active === undefined) this.#lookFor(subject);
      return;
    }
    if (stored.revision < (this.#past.get(subject) ?? 0)) return;
    this.#past.delete(subject);
    this.#waiters.tell(subject, stored);
    if (active === undefined) {
      const mine = stored.record.owner === this.#instance.key && isOpen(stored.record);
      if (mine && !this.#closing.signal.aborted) this.#begin(stored);
    } else if (stored.revision > active.revision) {
      const { id, owner, cancelledBy } = stored.record;
      if (id !== active.id || owner !== this.#instance.key) {
        active.next = stored;
        active.abandon.abort(cancelled());
      } else if (cancelledBy !== undefined) active.run?.cancel(cancelledBy);
    }
  }

  /** Reads what the store has now; silent when it cannot be read, as the next look comes by itself. */
  #lookFor(subject: string): void {
    this.#sagas.get(subject).then(
      (stored) => {
        if (stored !== undefined) return this.#see(subject, stored);
        this.#past.delete(subject);
        this.#waiters.tellGone(subject);
      },
      () => undefined,
    );
  }

  #begin(stored: Stored<SagaRecord>): void {
    const abandon = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const { id, subject } = stored.record;
    const active: Active = { id, abandon, done: promise, revision: stored.revision };
    this.#active.set(subject, active);
    void this.#run(stored, active).then((ended) => {
      this.#active.delete(subject);
      this.#past.set(subject, active.revision);
      if (ended !== undefined) this.#waiters.tellEnded(ended);
      resolve();
      if (active.next !== undefined) this.#see(subject, active.next);
    });
  }

  /** Never rejects: what fails here is taken up again by the next look at the open sagas. */
  async #run(stored: Stored<SagaRecord>, active: Active): Promise<SagaRecord | undefined> {
    const { store, ambient, retries, policy = RETRY_POLICY } = this.#options;
    let journal: Journal | undefined;
    try {
      const { fence } = this.#instance;
      const kind = this.#kinds.get(stored.record.kind);
      if (kind === undefined) throw failedPrecondition("saga", `there is no saga kind "${stored.record.kind}" here`);
      const work = await kind.open(stored.record);
      const { abandon } = active;
      journal = new Journal(stored, { store, sagas: this.#sagas, ambient, fence, signal: abandon.signal });
      active.run = new SagaRun(journal, work, {
        ambient,
        lanes: this.#lanes,
        budget: this.#budget,
        retries,
        policy,
        assertAlive: () => this.#instance.assertAlive(),
        abandon,
      });
      if (this.#closing.signal.aborted) active.run.pause();
      return await active.run.run();
    } catch (thrown) {
      if (!(thrown instanceof NoLongerOurs)) this.#report("a saga stopped and will be taken up again", thrown);
      return undefined;
    } finally {
      active.revision = journal?.revision ?? stored.revision;
    }
  }

  #report(what: string, thrown: unknown): void {
    this.#options.logger.error(what, { error: Fault.from(thrown) });
  }
}

/** The first steps are `started` from the beginning, so that the transaction that writes the saga is their journal too. */
function newRecord(saga: NewSaga, born: Pick<SagaRecord, "id" | "owner" | "startedAt">): SagaRecord {
  const record: SagaRecord = {
    ...saga,
    ...born,
    state: "running",
    steps: saga.steps.map((step) => ({ ...step, state: "waiting" })),
    sequence: 0,
  };
  const first = stepsToPerform(record, new Set());
  return withSteps(record, new Set(first.map(({ id }) => id)), { state: "started" });
}
