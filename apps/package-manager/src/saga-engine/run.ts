import {
  cancelled,
  Fault,
  retry,
  timestamp,
  type Ambient,
  type BackoffPolicy,
  type KeyedQueue,
} from "@oaas/foundation";
import type { Tracer } from "@oaas/observability";
import { SagaOwnershipLost, type Journal } from "./journal.ts";
import type { SagaWork } from "./kind.ts";
import type { RetryBudget } from "./retry-budget.ts";
import { mustUndo, outcomeOf, type SagaRecord, type SagaStep, stepsToPerform, stepsToUndo, withSteps } from "./saga.ts";
import { faultBytes, storeFault, type StoredFault } from "./stored-fault.ts";

export interface RunDeps {
  readonly ambient: Ambient;
  /** Limits concurrent steps per target. */
  readonly queue: KeyedQueue;
  readonly budget: RetryBudget;
  /** Retries of one step. */
  readonly retries: number;
  readonly policy: BackoffPolicy;
  readonly tracer: Tracer;
  /** Throws when the lease has expired by the local clock. */
  readonly assertAlive: () => void;
  /** Called before an action is tried again. */
  readonly onRetry: (action: string) => void;
  /** Aborted to stop at once: another engine owns the saga, or this engine lost its lease. */
  readonly abandon: AbortController;
}

/**
 * Runs one saga from the state in its journal.
 *
 * *Guarantees*: a step is `started` in the journal before its effect; no effect is in progress when the run ends; an
 * abandoned saga writes nothing.
 */
export class SagaRun {
  readonly #journal: Journal;
  readonly #work: SagaWork;
  readonly #deps: RunDeps;
  /** Aborts steps in progress that will be undone. */
  readonly #halt = new AbortController();
  #pausing = false;
  #failure: Error | undefined;

  constructor(journal: Journal, work: SagaWork, deps: RunDeps) {
    this.#journal = journal;
    this.#work = work;
    this.#deps = deps;
  }

  /** Stops before the next step; steps in progress end. */
  pause(): void {
    this.#pausing = true;
  }

  /** Processes a cancellation that is in the store. */
  cancel(by: string): void {
    const { record } = this.#journal;
    if (record.cancelledBy === undefined) this.#journal.change({ ...record, cancelledBy: by });
    if (record.state === "running") this.#halt.abort(cancelled());
  }

  /** Returns the finished saga; undefined when it was paused. */
  async run(): Promise<SagaRecord | undefined> {
    for (;;) {
      if (this.#journal.record.state === "running") await this.#forward();
      const { record } = this.#journal;
      if (record.state === "running" && mustUndo(record)) {
        this.#journal.change({ ...record, state: "undoing" });
        await this.#journal.flush();
      }
      if (this.#journal.record.state === "undoing") await this.#backward();
      if (this.#pausing && this.#hasMore()) {
        await this.#journal.flush();
        return undefined;
      }
      const ended = await this.#end();
      if (ended !== undefined) return ended;
    }
  }

  async #end(): Promise<SagaRecord | undefined> {
    const outcome = outcomeOf(this.#journal.record);
    const endedAt = timestamp(this.#deps.ambient.clock.now());
    return this.#journal.end({ outcome, endedAt }, (saga) => this.#work.finish(saga, outcome));
  }

  #hasMore(): boolean {
    const { record } = this.#journal;
    return record.state === "undoing"
      ? stepsToUndo(record).length > 0
      : mustUndo(record) || stepsToPerform(record, new Set()).length > 0;
  }

  async #forward(): Promise<void> {
    const inProgress = new Map<string, Promise<void>>();
    for (;;) {
      const idle = this.#pausing || this.#deps.abandon.signal.aborted;
      const next = idle ? [] : stepsToPerform(this.#journal.record, new Set(inProgress.keys()));
      if (await this.#markStarted(next)) continue;
      for (const step of next) {
        const performed = this.#perform(step).finally(() => inProgress.delete(step.id));
        inProgress.set(step.id, performed);
      }
      if (inProgress.size === 0) break;
      await Promise.race(inProgress.values());
    }
    this.#assertOwned();
  }

  /** True when the journal was written: the steps must be selected again, because the saga may have changed. */
  async #markStarted(next: readonly SagaStep[]): Promise<boolean> {
    const fresh = next.filter((step) => step.state === "waiting");
    if (fresh.length === 0) return false;
    this.#journal.change(withSteps(this.#journal.record, new Set(fresh.map(({ id }) => id)), { state: "started" }));
    await this.#journal.flush().catch((thrown: unknown) => this.#fail(thrown));
    return true;
  }

  async #perform(step: SagaStep): Promise<void> {
    const signal = AbortSignal.any([this.#deps.abandon.signal, this.#halt.signal]);
    try {
      const note = await this.#attempt(step, signal, () => this.#work.perform(step, { signal }));
      await this.#work.confirm?.(step, { signal });
      this.#recordStep(step, { state: "done", note });
    } catch (thrown) {
      // The step may have been performed: it stays `started`.
      if (signal.aborted) return;
      this.#recordStep(step, { state: "failed", fault: this.#storeFault(thrown) });
      if (mustUndo(this.#journal.record)) this.#halt.abort(cancelled());
    }
  }

  async #backward(): Promise<void> {
    for (let steps = stepsToUndo(this.#journal.record); steps.length > 0; steps = stepsToUndo(this.#journal.record)) {
      if (this.#pausing) break;
      await Promise.all(steps.map((step) => this.#undo(step)));
      this.#assertOwned();
    }
  }

  async #undo(step: SagaStep): Promise<void> {
    const { signal } = this.#deps.abandon;
    try {
      const note = await this.#attempt(step, signal, () => this.#work.undo(step, { signal }));
      // Keep the reason of the undo.
      this.#recordStep(step, { state: "undone", note, ...(step.fault === undefined ? {} : { fault: step.fault }) });
    } catch (thrown) {
      if (signal.aborted) return;
      const note = step.fault === undefined ? "" : `failed before: ${step.fault.message}`;
      this.#recordStep(step, { state: "undo-failed", fault: this.#storeFault(thrown), note });
    }
  }

  async #attempt(step: SagaStep, signal: AbortSignal, work: () => Promise<string>): Promise<string> {
    const { ambient, queue, budget, retries, policy, tracer, assertAlive } = this.#deps;
    budget.earn(step.target);
    const onRetry = (fault: Fault, _: number, delayMs: number): void => {
      // A target that asks for a longer delay is left to the drift reconciler.
      if (delayMs > policy.capMs || !budget.spend(step.target)) throw fault;
      this.#deps.onRetry(step.action);
    };
    const isUndo = this.#journal.record.state === "undoing";
    return tracer.run(
      {
        name: `saga step ${isUndo ? "undo " : ""}${step.action}`,
        attributes: { "oaas.saga.step": step.id, "oaas.cluster": step.target },
      },
      (span) => {
        let attempts = 0;
        return retry({ ...ambient, retries, policy, signal, onRetry }, () =>
          queue.run(step.target, signal, async () => {
            assertAlive();
            span.set({ "oaas.saga.attempts": (attempts += 1) });
            return work();
          }),
        );
      },
    );
  }

  #storeFault(thrown: unknown): StoredFault {
    return storeFault(Fault.from(thrown), faultBytes(this.#journal.record.steps.length));
  }

  #recordStep(step: SagaStep, change: Partial<SagaStep>): void {
    const { fault: _, ...rest } = step;
    const record = this.#journal.record;
    const steps = record.steps.map((each) => (each.id === step.id ? { ...rest, ...change } : each));
    this.#journal.change({ ...record, steps });
    this.#journal.scheduleFlush((thrown) => this.#fail(thrown));
  }

  #assertOwned(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#deps.abandon.signal.aborted) throw new SagaOwnershipLost("the saga was abandoned");
  }

  /** The journal cannot be written: stop all effects. */
  #fail(thrown: unknown): void {
    this.#failure ??= thrown instanceof Error ? thrown : Fault.from(thrown);
    this.#deps.abandon.abort(cancelled({ cause: thrown }));
  }
}
