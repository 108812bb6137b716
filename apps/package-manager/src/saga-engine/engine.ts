import { cancelled, failedPrecondition, Fault, sleep, startDeadline, timestamp } from "@oaas/foundation";
import {
  absent,
  Collection,
  CollectionView,
  conflictOf,
  MAX_OPERATIONS,
  present,
  together,
  type Committed,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { ActiveRuns, type ActiveRunsOptions } from "./active-runs.ts";
import { leaseLost, EngineInstance } from "./instance.ts";
import type { SagaKind } from "./kind.ts";
import { isOpen, SAGAS, stepsToPerform, withSteps, type NewSaga, type SagaRecord } from "./saga.ts";
import type { SagaReference, WaitResult } from "./waiters.ts";

export interface SagaEngineOptions extends Omit<ActiveRunsOptions, "sagas" | "instance"> {
  /** How long after its death the sagas of an engine are taken over by another. */
  readonly leaseMs?: number;
  /** Told of each saga, of whatever engine, that came along or ended; undefined when its subject is gone. Must not throw. */
  readonly onProgress?: (subject: string, saga: SagaRecord | undefined) => void;
}

/** A saga ready to be written together with what it belongs to. */
export interface StagedSaga {
  readonly id: string;
  /**
   * Writes it and everything else in one transaction, and lets it begin.
   *
   * Rejects with a conflict when something is not as it was read, and with unavailable while this engine is between two lives.
   */
  commit(also: readonly Transaction[]): Promise<SagaReference>;
}

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
  readonly #runs: ActiveRuns;
  readonly #closing = new AbortController();
  readonly #leaseMs: number;
  #living: Promise<void> | undefined;

  constructor(options: SagaEngineOptions) {
    const { store, ambient, leaseMs = 10_000 } = options;
    this.#options = options;
    this.#leaseMs = leaseMs;
    this.#sagas = new Collection(store, SAGAS);
    this.#instance = new EngineInstance(store, ambient, leaseMs);
    this.#runs = new ActiveRuns({ ...options, sagas: this.#sagas, instance: this.#instance });
    this.#view = new CollectionView(this.#sagas, {
      ambient,
      onChange: (subjects) => {
        for (const subject of subjects) {
          const stored = this.#view.get(subject);
          this.#runs.see(subject, stored);
          options.onProgress?.(subject, stored?.record);
        }
      },
    });
  }

  /** Makes a kind known; before the start. */
  register(kind: SagaKind): void {
    this.#runs.register(kind);
  }

  /** Begins to live, then runs what was left by those who died. */
  async start(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#view.start(options);
    const lost = await this.#instance.begin(options.signal ?? this.#closing.signal);
    // A lease that was lost since is followed by the next, on a busy machine too: what is left is taken over then.
    await this.#adopt().catch((thrown: unknown) => {
      if (!lost.aborted) throw thrown;
    });
    this.#living = this.#live(lost);
  }

  /** Lets steps under way end, at most `graceMs`, then gives up the lease; what is left is another's, or the next start's. */
  async close(graceMs = 5_000): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(cancelled());
    this.#runs.pause();
    const grace = this.#options.ambient.timers.after(graceMs, () => this.#runs.abandon());
    await this.#runs.settled();
    grace.cancel();
    await this.#living;
    await this.#view.close();
    await this.#instance.end().catch(() => undefined);
    this.#runs.waiters.close();
  }

  /** A key of the store that is there as long as this engine lives; undefined between two lives. */
  get leaseKey(): string | undefined {
    return this.#instance.key;
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
    const { subject } = saga;
    const staged =
      current === undefined ? this.#sagas.stageCreate(subject, record) : this.#sagas.stageUpdate(current, record);
    const conditions = [fence, ...(alive ? [present(runner)] : [])];
    return {
      id: record.id,
      commit: async (also) => {
        const { revision } = await this.#commit(together(...also, staged, { conditions, writes: [] }));
        this.#runs.see(subject, this.#sagas.committed(staged, revision, current));
        return { subject, id: record.id, revision };
      },
    };
  }

  /** Waits until this very saga ended or another took its place, at most `timeoutMs`. */
  async wait(
    saga: SagaReference,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<WaitResult> {
    using deadline = startDeadline(this.#options.ambient, options.timeoutMs, options.signal);
    const told = this.#runs.waiters.wait(saga, deadline.signal);
    if (this.#runs.idOf(saga.subject) !== saga.id) this.#runs.lookFor(saga.subject);
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
        this.#runs.see(subject, await this.#sagas.update(stored, { ...stored.record, cancelledBy: by }));
        return;
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.kind !== "conflict") throw thrown;
      }
    }
  }

  async #commit(transaction: Transaction): Promise<Committed> {
    try {
      return await this.#options.store.commit(transaction);
    } catch (thrown) {
      throw this.#instance.isLeaseLost(thrown) ? leaseLost(thrown) : thrown;
    }
  }

  async #live(first: AbortSignal): Promise<void> {
    const { ambient, logger } = this.#options;
    const closing = this.#closing.signal;
    let lost = first;
    while (!closing.aborted) {
      try {
        await sleep(ambient.timers, this.#leaseMs / 3, AbortSignal.any([lost, closing]));
        await this.#adopt();
      } catch (thrown) {
        if (closing.aborted) return;
        if (!lost.aborted) logger.warn("open sagas could not be looked through", { error: Fault.from(thrown) });
      }
      if (lost.aborted) lost = await this.#liveAgain().catch(() => lost);
    }
  }

  async #liveAgain(): Promise<AbortSignal> {
    this.#options.logger.warn("the lease of the saga engine is lost; its sagas are given up until there is a new one");
    this.#runs.abandon();
    await this.#runs.settled();
    const lost = await this.#instance.begin(this.#closing.signal);
    await this.#adopt().catch(() => undefined);
    return lost;
  }

  /** Takes over the open sagas of engines that are no more, and takes up its own that nobody told it of. */
  async #adopt(): Promise<void> {
    const me = this.#instance.key;
    if (me === undefined) return;
    const open = [...this.#view.all()].filter(({ record }) => isOpen(record));
    for (const { record } of open) {
      if (record.owner === me && this.#runs.idOf(record.subject) === undefined) this.#runs.lookFor(record.subject);
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
      const { revision } = await this.#commit(together(staged, { conditions, writes: [] }));
      this.#runs.see(stored.id, this.#sagas.committed(staged, revision, stored));
    } catch (thrown) {
      // Another engine was faster, or it ended meanwhile.
      if (conflictOf(thrown) === undefined) throw thrown;
    }
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
