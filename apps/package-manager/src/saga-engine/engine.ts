import { cancelled, failedPrecondition, Fault, sleep, startDeadline, timestamp } from "@oaas/foundation";
import { formatTraceparent, NOOP_CONTEXT } from "@oaas/observability";
import {
  absent,
  Collection,
  CollectionView,
  conflictOf,
  MAX_OPERATIONS,
  present,
  combineTransactions,
  type Committed,
  type Stored,
  type Transaction,
  type ViewPage,
  type ViewQuery,
} from "@oaas/storage";
import { ActiveRuns, type ActiveRunsOptions } from "./active-runs.ts";
import { leaseLost, EngineInstance } from "./instance.ts";
import type { SagaKind } from "./kind.ts";
import { isOpen, SAGAS, stepsToPerform, withSteps, type NewSaga, type SagaRecord } from "./saga.ts";
import type { SagaReference, WaitResult } from "./waiters.ts";

export interface SagaEngineOptions extends Omit<ActiveRunsOptions, "sagas" | "instance"> {
  /** After this time without a sign of life, other engines take over the sagas of an engine. */
  readonly leaseMs?: number;
  /** Called for each change of a saga on any engine; undefined when the subject was deleted. Must not throw. */
  readonly onProgress?: (subject: string, saga: SagaRecord | undefined) => void;
}

/** A saga to be committed together with other writes and sagas. */
export interface StagedSaga {
  readonly id: string;
  readonly transaction: Transaction;
  /** Called before the commit, so that the view of this process can start the saga. */
  readonly handOver: () => void;
  /** Called when the commit failed. */
  readonly takeBack: () => void;
  /** Called after the commit. */
  readonly start: (revision: number) => SagaReference;
}

/**
 * Runs the sagas of the store: its own and those of engines that died.
 *
 * ```
 *   stage + commit ─▶ launch ─▶ run ─▶ ended
 *                        ▲        └─▶ abandoned: lease lost, or a newer saga of the subject
 *   view of all sagas ───┤
 *   adoption (interval) ─┘
 * ```
 *
 * *Guarantees*: one saga of a subject runs at a time, on one engine; every open saga is run as long as one engine is
 * alive; a superseded saga has no effect in progress when its successor starts, unless its engine died.
 */
export class SagaEngine {
  readonly #options: SagaEngineOptions;
  readonly #sagas: Collection<SagaRecord>;
  readonly #view: CollectionView<SagaRecord>;
  readonly #instance: EngineInstance;
  readonly #runs: ActiveRuns;
  readonly #closing = new AbortController();
  readonly #leaseMs: number;
  #maintaining: Promise<void> | undefined;

  constructor(options: SagaEngineOptions) {
    const { store, ambient, leaseMs = 10_000 } = options;
    this.#options = options;
    this.#leaseMs = leaseMs;
    this.#sagas = new Collection(store, SAGAS);
    this.#instance = new EngineInstance(store, ambient, leaseMs);
    this.#runs = new ActiveRuns({ ...options, sagas: this.#sagas, instance: this.#instance });
    this.#view = new CollectionView(this.#sagas, {
      ambient,
      orders: { started_at: ({ record }) => record.startedAt },
      onChange: (subjects) => {
        for (const subject of subjects) {
          const stored = this.#view.get(subject);
          this.#runs.observe(subject, stored);
          options.onProgress?.(subject, stored?.record);
        }
      },
    });
  }

  /** Registers a kind of saga. Call before `start`. */
  register(kind: SagaKind): void {
    this.#runs.register(kind);
  }

  /** Acquires the lease, then adopts the sagas of dead engines. */
  async start(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#view.start(options);
    const lost = await this.#instance.acquire(options.signal ?? this.#closing.signal);
    // A lease lost in between is acquired again below, which adopts the sagas then.
    await this.#adopt().catch((thrown: unknown) => {
      if (!lost.aborted) throw thrown;
    });
    this.#maintaining = this.#maintainLease(lost);
  }

  /** Waits for steps in progress, at most `graceMs`, then releases the lease, so that other engines adopt the rest. */
  async close(graceMs = 5_000): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(cancelled());
    this.#runs.pause();
    const grace = this.#options.ambient.timers.after(graceMs, () => this.#runs.abandon());
    await this.#runs.settled();
    grace.cancel();
    await this.#maintaining;
    await this.#view.close();
    await this.#instance.release().catch(() => undefined);
    this.#runs.waiters.close();
  }

  /** The store key that exists as long as this engine holds its lease; undefined without a lease. */
  get leaseKey(): string | undefined {
    return this.#instance.key;
  }

  /** The saga of a subject, read from the store. */
  async get(subject: string): Promise<Stored<SagaRecord> | undefined> {
    return this.#sagas.get(subject);
  }

  /** The saga of a subject from the view in memory. */
  peek(subject: string): SagaRecord | undefined {
    return this.#view.get(subject)?.record;
  }

  /** One page of the newest saga of each subject, from the view in memory, newest first. */
  list(query: Omit<ViewQuery<SagaRecord>, "order" | "descending">): ViewPage<SagaRecord> {
    return this.#view.page({ ...query, order: "started_at", descending: true });
  }

  /**
   * Stages a saga that replaces `current`.
   *
   * When `current` runs on another live engine, that engine runs the successor too. `committed` is passed to the saga kind
   * if the saga runs in this process, to save reading back the writes of the same transaction.
   */
  async stage(current: Stored<SagaRecord> | undefined, saga: NewSaga, committed?: unknown): Promise<StagedSaga> {
    const { ambient, store } = this.#options;
    const { fence } = this.#instance;
    const me = fence.key;
    const runner = current !== undefined && isOpen(current.record) ? current.record.owner : me;
    const alive = runner !== me && (await store.get(runner)) !== undefined;
    const record = newRecord(saga, {
      id: ambient.ids.uuid(),
      owner: alive ? runner : me,
      startedAt: timestamp(ambient.clock.now()),
      ...this.#trace(),
    });
    const { subject } = saga;
    const staged =
      current === undefined ? this.#sagas.stageCreate(subject, record) : this.#sagas.stageUpdate(current, record);
    const conditions = [fence, ...(alive ? [present(runner)] : [])];
    return {
      id: record.id,
      transaction: combineTransactions(staged, { conditions, writes: [] }),
      handOver: () => {
        if (!alive) this.#runs.handOver(record, committed);
      },
      takeBack: () => {
        this.#runs.takeHandOver(record);
      },
      start: (revision) => {
        this.#runs.observe(subject, this.#sagas.committed(staged, revision, current));
        return { subject, id: record.id, revision };
      },
    };
  }

  /**
   * Commits sagas and other writes in one transaction, and starts the sagas.
   *
   * Rejects with a conflict when a condition fails, and with unavailable while this engine has no lease.
   */
  async commit(
    sagas: readonly StagedSaga[],
    also: readonly Transaction[] = [],
  ): Promise<{ readonly revision: number; readonly sagas: readonly SagaReference[] }> {
    for (const { handOver } of sagas) handOver();
    const whole = combineTransactions(...also, ...sagas.map(({ transaction }) => transaction));
    const { revision } = await this.#commit(whole).catch((thrown: unknown) => {
      for (const { takeBack } of sagas) takeBack();
      throw thrown;
    });
    return { revision, sagas: sagas.map(({ start }) => start(revision)) };
  }

  /** Waits until this saga ended or was superseded, at most `timeoutMs`. */
  async wait(
    saga: SagaReference,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<WaitResult> {
    using deadline = startDeadline(this.#options.ambient, options.timeoutMs, options.signal);
    const result = this.#runs.waiters.wait(saga, deadline.signal);
    if (this.#runs.idOf(saga.subject) !== saga.id) this.#runs.refresh(saga.subject);
    return await result;
  }

  /** Stops a running saga and undoes its steps. Throws failed-precondition when it has ended. */
  async cancel(subject: string, id: string, by: string): Promise<void> {
    for (;;) {
      const stored = await this.#sagas.get(subject);
      if (stored?.record.id !== id || !isOpen(stored.record)) {
        throw failedPrecondition(subject, `the operation on ${subject} has ended`);
      }
      if (stored.record.cancelledBy !== undefined) return;
      try {
        this.#runs.observe(subject, await this.#sagas.update(stored, { ...stored.record, cancelledBy: by }));
        return;
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.kind !== "conflict") throw thrown;
      }
    }
  }

  #trace(): Pick<SagaRecord, "traceparent"> {
    const { span } = (this.#options.context ?? NOOP_CONTEXT).current();
    return span === undefined ? {} : { traceparent: formatTraceparent(span) };
  }

  async #commit(transaction: Transaction): Promise<Committed> {
    try {
      return await this.#options.store.commit(transaction);
    } catch (thrown) {
      throw this.#instance.isLeaseLost(thrown) ? leaseLost(thrown) : thrown;
    }
  }

  async #maintainLease(first: AbortSignal): Promise<void> {
    const { ambient, logger } = this.#options;
    const closing = this.#closing.signal;
    let lost = first;
    while (!closing.aborted) {
      try {
        await sleep(ambient.timers, this.#leaseMs / 3, AbortSignal.any([lost, closing]));
        await this.#adopt();
      } catch (thrown) {
        if (closing.aborted) return;
        if (!lost.aborted) logger.warn("list open sagas failed", { error: Fault.from(thrown) });
      }
      if (lost.aborted) lost = await this.#reacquireLease().catch(() => lost);
    }
  }

  async #reacquireLease(): Promise<AbortSignal> {
    this.#options.logger.warn("saga engine lost its lease; sagas are suspended until a new one is acquired");
    this.#runs.abandon();
    await this.#runs.settled();
    const lost = await this.#instance.acquire(this.#closing.signal);
    await this.#adopt().catch(() => undefined);
    return lost;
  }

  /** Adopts the open sagas of dead engines, and starts own sagas that are not running. */
  async #adopt(): Promise<void> {
    const me = this.#instance.key;
    if (me === undefined) return;
    const open = [...this.#view.all()].filter(({ record }) => isOpen(record));
    for (const { record } of open) {
      if (record.owner === me && this.#runs.idOf(record.subject) === undefined) this.#runs.refresh(record.subject);
    }
    const others = [...new Set(open.map(({ record }) => record.owner))].filter((owner) => owner !== me);
    const owners = others.slice(0, MAX_OPERATIONS);
    const entries = await this.#options.store.getMany(owners);
    const dead = new Set(owners.filter((_, at) => entries[at] === undefined));
    for (const stored of open) if (dead.has(stored.record.owner)) await this.#takeOver(stored);
  }

  async #takeOver(stored: Stored<SagaRecord>): Promise<void> {
    const { fence } = this.#instance;
    const staged = this.#sagas.stageUpdate(stored, { ...stored.record, owner: fence.key });
    const conditions = [fence, absent(stored.record.owner)];
    try {
      const { revision } = await this.#commit(combineTransactions(staged, { conditions, writes: [] }));
      this.#runs.observe(stored.id, this.#sagas.committed(staged, revision, stored));
    } catch (thrown) {
      // Another engine took the saga over, or it has ended.
      if (conflictOf(thrown) === undefined) throw thrown;
    }
  }
}

/** The first steps are `started` in the record, so that committing the saga journals them too. */
function newRecord(
  saga: NewSaga,
  identity: Pick<SagaRecord, "id" | "owner" | "startedAt" | "traceparent">,
): SagaRecord {
  const record: SagaRecord = {
    ...saga,
    ...identity,
    state: "running",
    steps: saga.steps.map((step) => ({ ...step, state: "waiting" })),
    sequence: 0,
  };
  const first = stepsToPerform(record, new Set());
  return withSteps(record, new Set(first.map(({ id }) => id)), { state: "started" });
}
