import {
  cancelled,
  Fault,
  retry,
  timestamp,
  type Ambient,
  type BackoffPolicy,
  type KeyedQueue,
} from "@oaas/foundation";
import { SagaOwnershipLost, type Journal } from "./journal.ts";
import type { SagaWork } from "./kind.ts";
import type { RetryBudget } from "./retry-budget.ts";
import { mustUndo, outcomeOf, stepsToPerform, stepsToUndo, withSteps, type SagaRecord, type SagaStep } from "./saga.ts";
import { storeFault } from "./stored-fault.ts";

export interface RunDeps {
  readonly ambient: Ambient;
  /** Limits concurrent steps per target. */
  readonly queue: KeyedQueue;
  readonly budget: RetryBudget;
  /** Tries of one step after the first. */
  readonly retries: number;
  readonly policy: BackoffPolicy;
  /** Throws when the engine's lease is over by the local clock. */
  readonly assertAlive: () => void;
  /** Aborted to give the saga up at once: it is another's, or the engine is not alive any more. */
  readonly abandon: AbortController;
}

/**
 * Carries one saga out, from wherever its journal says it stands.
 *
 * *Guarantees*: a step is `started` in the journal before its effect; when the run is over, none of its effects is under way;
 * a saga that was given up writes nothing more.
 */
export class SagaRun {
  readonly #journal: Journal;
  readonly #work: SagaWork;
  readonly #deps: RunDeps;
  /** Steps under way are given up, because they will be undone. */
  readonly #halt = new AbortController();
  #pausing = false;
  #broken: Error | undefined;

  constructor(journal: Journal, work: SagaWork, deps: RunDeps) {
    this.#journal = journal;
    this.#work = work;
    this.#deps = deps;
  }

  /** Stops at the next step; what is under way ends. */
  pause(): void {
    this.#pausing = true;
  }

  /** Takes note of a cancellation that the store already has. */
  cancel(by: string): void {
    const { record } = this.#journal;
    if (record.cancelledBy === undefined) this.#journal.change({ ...record, cancelledBy: by });
    if (record.state === "running") this.#halt.abort(cancelled());
  }

  /** The saga as it ended; undefined when it was paused. */
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
    const underWay = new Map<string, Promise<void>>();
    for (;;) {
      const idle = this.#pausing || this.#deps.abandon.signal.aborted;
      const next = idle ? [] : stepsToPerform(this.#journal.record, new Set(underWay.keys()));
      if (await this.#markStarted(next)) continue;
      for (const step of next) {
        const performed = this.#perform(step).finally(() => underWay.delete(step.id));
        underWay.set(step.id, performed);
      }
      if (underWay.size === 0) break;
      await Promise.race(underWay.values());
    }
    this.#assertOurs();
  }

  /** True when something had to be written first: look again, as the world may have moved meanwhile. */
  async #markStarted(next: readonly SagaStep[]): Promise<boolean> {
    const fresh = next.filter((step) => step.state === "waiting");
    if (fresh.length === 0) return false;
    this.#journal.change(withSteps(this.#journal.record, new Set(fresh.map(({ id }) => id)), { state: "started" }));
    await this.#journal.flush().catch((thrown: unknown) => this.#break(thrown));
    return true;
  }

  async #perform(step: SagaStep): Promise<void> {
    const signal = AbortSignal.any([this.#deps.abandon.signal, this.#halt.signal]);
    try {
      const note = await this.#attempt(step, signal, () => this.#work.perform(step, { signal }));
      await this.#work.confirm?.(step, { signal });
      this.#note(step, { state: "done", note });
    } catch (thrown) {
      // Given up: the step may have happened, and `started` says so.
      if (signal.aborted) return;
      this.#note(step, { state: "failed", fault: storeFault(Fault.from(thrown)) });
      if (mustUndo(this.#journal.record)) this.#halt.abort(cancelled());
    }
  }

  async #backward(): Promise<void> {
    for (let steps = stepsToUndo(this.#journal.record); steps.length > 0; steps = stepsToUndo(this.#journal.record)) {
      if (this.#pausing) break;
      await Promise.all(steps.map((step) => this.#undo(step)));
      this.#assertOurs();
    }
  }

  async #undo(step: SagaStep): Promise<void> {
    const { signal } = this.#deps.abandon;
    try {
      const note = await this.#attempt(step, signal, () => this.#work.undo(step, { signal }));
      // Why it was undone is told after it, too.
      this.#note(step, { state: "undone", note, ...(step.fault === undefined ? {} : { fault: step.fault }) });
    } catch (thrown) {
      if (signal.aborted) return;
      const note = step.fault === undefined ? "" : `it had failed: ${step.fault.message}`;
      this.#note(step, { state: "undo-failed", fault: storeFault(Fault.from(thrown)), note });
    }
  }

  async #attempt(step: SagaStep, signal: AbortSignal, work: () => Promise<string>): Promise<string> {
    const { ambient, queue, budget, retries, policy, assertAlive } = this.#deps;
    budget.earn(step.target);
    const onRetry = (fault: Fault, _: number, delayMs: number): void => {
      // A target that asks for more patience than we have is left to whoever looks again later.
      if (delayMs > policy.capMs || !budget.spend(step.target)) throw fault;
    };
    return retry({ ...ambient, retries, policy, signal, onRetry }, () =>
      queue.run(step.target, signal, async () => {
        assertAlive();
        return work();
      }),
    );
  }

  #note(step: SagaStep, change: Partial<SagaStep>): void {
    const { fault: _, ...rest } = step;
    const record = this.#journal.record;
    const steps = record.steps.map((each) => (each.id === step.id ? { ...rest, ...change } : each));
    this.#journal.change({ ...record, steps });
    this.#journal.flushSoon((thrown) => this.#break(thrown));
  }

  #assertOurs(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#deps.abandon.signal.aborted) throw new SagaOwnershipLost("the engine gave the saga up");
  }

  /** The journal cannot be written: nothing may be done any more. */
  #break(thrown: unknown): void {
    this.#broken ??= thrown instanceof Error ? thrown : Fault.from(thrown);
    this.#deps.abandon.abort(cancelled({ cause: thrown }));
  }
}
