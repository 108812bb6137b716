import { cancelled, failedPrecondition, Fault, KeyedQueue, type Ambient, type BackoffPolicy } from "@oaas/foundation";
import {
  type Logger,
  type Meter,
  NOOP_CONTEXT,
  NOOP_METER,
  NOOP_TRACER,
  parseTraceparent,
  type ContextStore,
  type Tracer,
} from "@oaas/observability";
import type { Collection, KeyValueStore, Stored } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";
import type { EngineInstance } from "./instance.ts";
import { Journal, SagaOwnershipLost } from "./journal.ts";
import type { SagaKind } from "./kind.ts";
import { RetryBudget, type RetryBudgetLimits } from "./retry-budget.ts";
import { SagaRun } from "./run.ts";
import { SagaMetrics } from "./saga-metrics.ts";
import { isOpen, type SagaRecord } from "./saga.ts";
import { Waiters } from "./waiters.ts";

export interface ActiveRunsOptions {
  readonly store: KeyValueStore;
  readonly sagas: Collection<SagaRecord>;
  readonly instance: EngineInstance;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly context?: ContextStore;
  readonly tracer?: Tracer;
  readonly retries: number;
  readonly policy?: BackoffPolicy;
  readonly budget?: RetryBudgetLimits;
  readonly maxStepsPerTarget?: number;
  readonly meter?: Meter;
}

interface Active {
  readonly id: string;
  readonly abandon: AbortController;
  readonly done: Promise<void>;
  run?: SagaRun;
  /** The caller that cancelled it, possibly before the run was opened. */
  cancelledBy?: string;
  /** The newest saga of the subject, to start after this run. */
  next?: Stored<SagaRecord>;
  /** The store revision of the last known journal write. */
  revision: number;
}

/**
 * The sagas that this engine is running: one per subject.
 *
 * *Guarantees*: for any order and repetition of observed changes, the newest saga of a subject runs once, after its
 * predecessor has no effect in progress.
 */
export class ActiveRuns {
  readonly waiters = new Waiters();
  readonly #options: ActiveRunsOptions;
  readonly #kinds = new Map<string, SagaKind>();
  readonly #active = new Map<string, Active>();
  /** The store revision of the last journal write of finished runs, until the view has reached it. */
  readonly #finished = new Map<string, number>();
  readonly #queue: KeyedQueue;
  readonly #budget: RetryBudget;
  readonly #metrics: SagaMetrics;
  readonly #handOvers = new Map<string, { readonly id: string; readonly committed: unknown }>();
  #isClosing = false;

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
    this.#queue = new KeyedQueue(options.maxStepsPerTarget ?? 32);
    this.#budget = new RetryBudget(options.budget);
    this.#metrics = new SagaMetrics(options.meter ?? NOOP_METER);
  }

  register(kind: SagaKind): void {
    this.#kinds.set(kind.name, kind);
    this.#metrics.register(kind.name);
  }

  /** The id of the running saga of a subject. */
  idOf(subject: string): string | undefined {
    return this.#active.get(subject)?.id;
  }

  /** Starts no more sagas; running ones stop before their next step. */
  pause(): void {
    this.#isClosing = true;
    for (const active of this.#active.values()) active.run?.pause();
  }

  /** Aborts all runs. */
  abandon(): void {
    for (const active of this.#active.values()) active.abandon.abort(cancelled());
  }

  /** Resolves when all current runs have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#active.values()].map((active) => active.done));
  }

  /** Keeps a value for the run of a saga that is about to be committed. One value per subject is kept. */
  handOver({ subject, id }: SagaRecord, committed: unknown): void {
    if (committed !== undefined) this.#handOvers.set(subject, { id, committed });
  }

  /** Returns and forgets the value kept for a saga; undefined when none is kept. */
  takeHandOver({ subject, id }: SagaRecord): unknown {
    const entry = this.#handOvers.get(subject);
    if (entry?.id !== id) return undefined;
    this.#handOvers.delete(subject);
    return entry.committed;
  }

  /** Processes the current or an earlier state of a subject. */
  observe(subject: string, stored: Stored<SagaRecord> | undefined): void {
    const active = this.#active.get(subject);
    if (stored === undefined) {
      // The deletion may be outdated: the subject may exist again.
      if (active === undefined) this.refresh(subject);
      return;
    }
    if (stored.revision < (this.#finished.get(subject) ?? 0)) return;
    this.#finished.delete(subject);
    this.waiters.notify(subject, stored);
    const mine = this.#options.instance.key;
    const { id, owner, cancelledBy } = stored.record;
    if (active === undefined) {
      if (owner === mine && isOpen(stored.record) && !this.#isClosing) this.#start(stored);
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

  /** Reads the subject from the store. A failed read is ignored: the engine looks at all subjects periodically. */
  refresh(subject: string): void {
    this.#options.sagas.get(subject).then(
      (stored) => {
        if (stored !== undefined) return this.observe(subject, stored);
        this.#finished.delete(subject);
        this.waiters.notifyDeleted(subject);
      },
      () => undefined,
    );
  }

  #start(stored: Stored<SagaRecord>): void {
    const { id, subject } = stored.record;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const active: Active = { id, abandon: new AbortController(), done, revision: stored.revision };
    this.#active.set(subject, active);
    void this.#run(stored, active).then((ended) => {
      this.#active.delete(subject);
      this.#finished.set(subject, active.revision);
      if (ended !== undefined) this.waiters.notifyEnded(ended);
      resolve();
      if (active.next !== undefined) this.observe(subject, active.next);
    });
  }

  /** Runs a saga in the trace of the request that started it, not of the request that happened to observe it. */
  #traced(record: SagaRecord, run: SagaRun): Promise<SagaRecord | undefined> {
    const { context = NOOP_CONTEXT, tracer = NOOP_TRACER } = this.#options;
    const { kind, subject, id, steps, sequence, traceparent } = record;
    const attributes = {
      "oaas.saga.id": id,
      "oaas.saga.subject": subject,
      "oaas.saga.steps": steps.length,
      "oaas.saga.resumed": sequence > 0,
    };
    const parent = parseTraceparent(traceparent);
    return context.run({ span: parent }, () =>
      tracer.run({ name: `saga ${kind}`, parent: parent ?? "root", attributes }, async (span) => {
        const ended = await run.run();
        if (ended !== undefined) this.#metrics.ended(ended, this.#options.ambient.clock.now());
        span.set({ "oaas.saga.outcome": ended?.state ?? "paused" });
        if (ended !== undefined && ended.state !== "succeeded") span.fail(`the saga ended as ${ended.state}`);
        return ended;
      }),
    );
  }

  /** Never rejects: a saga that fails here is started again when the engine next looks at the open sagas. */
  async #run(stored: Stored<SagaRecord>, active: Active): Promise<SagaRecord | undefined> {
    const { store, sagas, ambient, instance, logger, retries, policy = BACKOFF.sagaStep } = this.#options;
    const { abandon } = active;
    let journal: Journal | undefined;
    try {
      const { fence } = instance;
      const kind = this.#kinds.get(stored.record.kind);
      if (kind === undefined) throw failedPrecondition("saga", `unknown saga kind "${stored.record.kind}"`);
      const work = await kind.open(stored.record, this.takeHandOver(stored.record));
      journal = new Journal(stored, { store, sagas, ambient, fence, signal: abandon.signal });
      active.run = new SagaRun(journal, work, {
        ambient,
        queue: this.#queue,
        budget: this.#budget,
        retries,
        policy,
        tracer: this.#options.tracer ?? NOOP_TRACER,
        assertAlive: () => instance.assertAlive(),
        onRetry: (action) => this.#metrics.retried(action),
        abandon,
      });
      if (active.cancelledBy !== undefined) active.run.cancel(active.cancelledBy);
      if (this.#isClosing) active.run.pause();
      return await this.#traced(stored.record, active.run);
    } catch (thrown) {
      if (thrown instanceof SagaOwnershipLost) instance.isLeaseLost(thrown.cause);
      else {
        logger.error("run saga failed; it will be restarted", { error: Fault.from(thrown) });
      }
      return undefined;
    } finally {
      journal?.close();
      active.revision = journal?.revision ?? stored.revision;
    }
  }
}
