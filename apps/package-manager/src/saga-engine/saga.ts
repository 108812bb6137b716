import type { CollectionDefinition } from "@oaas/storage";
import type { StoredFault } from "./stored-fault.ts";

/**
 * A saga as data: a list of steps, fixed before the first effect, with the state of each.
 *
 * ```
 *   waiting ─▶ started ─▶ done ──┐
 *                 └─────▶ failed ┴─▶ undone | undo-failed
 * ```
 *
 * `started` is written before the effect: after a crash the step may have been performed, so it is performed again or
 * undone, and both must be idempotent.
 */
export type StepState = "waiting" | "started" | "done" | "failed" | "undone" | "undo-failed";

/** One effect on one outside thing. */
export interface SagaStep {
  /** Unique within the saga. */
  readonly id: string;
  /** The action, defined by the saga kind. */
  readonly action: string;
  /** The object of the action; the concurrency per target is limited across all sagas. */
  readonly target: string;
  /** A stage starts when every step of the earlier stages is done, or failed with `mayFail`. */
  readonly stage: number;
  /** A failure of this step neither stops nor undoes the saga; the saga can still succeed. */
  readonly mayFail?: boolean;
  readonly state: StepState;
  /** Why the step failed, or why its undo failed. */
  readonly fault?: StoredFault;
  /** A description of the result; for a failed undo, the reason of the undo. */
  readonly note?: string;
}

/** The final states of a saga. */
export type SagaOutcome = "succeeded" | "failed" | "undone" | "cancelled";
export type SagaState = "running" | "undoing" | SagaOutcome;

/** The effect of a failed step: `go-on` continues with the others, `stop` starts no more, `undo` undoes all. */
export type FailurePolicy = "go-on" | "stop" | "undo";

/** A saga to run. */
export interface NewSaga {
  readonly kind: string;
  /** One saga runs per subject; a newer one supersedes an older. */
  readonly subject: string;
  readonly steps: readonly Pick<SagaStep, "id" | "action" | "target" | "stage" | "mayFail">[];
  /** The number of steps that may run at the same time. */
  readonly parallel: number;
  readonly onFailure: FailurePolicy;
  /** Data of the saga kind; plain JSON. */
  readonly data: unknown;
}

/** A saga in its journal. */
export interface SagaRecord extends Omit<NewSaga, "steps"> {
  readonly id: string;
  /** The lease key of the engine that runs it. */
  readonly owner: string;
  readonly state: SagaState;
  readonly steps: readonly SagaStep[];
  /** The number of journal writes, by which a writer recognises its own write after an unknown outcome. */
  readonly sequence: number;
  readonly cancelledBy?: string;
  /** The span of the request that started it; also an engine that resumes it continues the trace. */
  readonly traceparent?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
}

export function isOpen(saga: SagaRecord): boolean {
  return saga.state === "running" || saga.state === "undoing";
}

/** The same saga with some of its steps changed. */
export function withSteps(saga: SagaRecord, ids: ReadonlySet<string>, change: Partial<SagaStep>): SagaRecord {
  return { ...saga, steps: saga.steps.map((step) => (ids.has(step.id) ? { ...step, ...change } : step)) };
}

/** Whether no step may start any more: cancelled, or failed with a policy other than `go-on`. */
function isHalted(saga: SagaRecord): boolean {
  return saga.cancelledBy !== undefined || (saga.onFailure !== "go-on" && saga.steps.some(isFailed));
}

/** Whether the steps must be undone. */
export function mustUndo(saga: SagaRecord): boolean {
  return saga.cancelledBy !== undefined || (saga.onFailure === "undo" && saga.steps.some(isFailed));
}

/**
 * The steps to perform now, besides those in progress.
 *
 * A halted saga starts nothing new; unless it must be undone, it finishes the steps that a crash left in `started`.
 */
export function stepsToPerform(saga: SagaRecord, inProgress: ReadonlySet<string>): readonly SagaStep[] {
  if (mustUndo(saga)) return [];
  const open = saga.steps.filter((step) => step.state === "waiting" || step.state === "started");
  const stage = Math.min(...open.map((step) => step.stage));
  if (saga.steps.some((step) => step.stage < stage && !isPassed(step))) return [];
  const halted = isHalted(saga);
  return open
    .filter((step) => step.stage === stage && !inProgress.has(step.id) && (!halted || step.state === "started"))
    .slice(0, Math.max(0, saga.parallel - inProgress.size));
}

/** The steps to undo, last stage first. Steps that never started are skipped. */
export function stepsToUndo(saga: SagaRecord): readonly SagaStep[] {
  const left = saga.steps.filter(
    (step) => step.state === "started" || step.state === "done" || step.state === "failed",
  );
  const stage = Math.max(...left.map((step) => step.stage));
  return left.filter((step) => step.stage === stage);
}

/** The outcome of a saga without remaining steps. */
export function outcomeOf(saga: SagaRecord): SagaOutcome {
  if (saga.state === "undoing") return saga.cancelledBy === undefined ? "undone" : "cancelled";
  return saga.steps.every(isPassed) ? "succeeded" : "failed";
}

function isFailed(step: SagaStep): boolean {
  return step.state === "failed" && step.mayFail !== true;
}

function isPassed(step: SagaStep): boolean {
  return step.state === "done" || (step.state === "failed" && step.mayFail === true);
}

/** The newest saga of each subject, by subject. */
export const SAGAS = {
  name: "sagas",
  codec: { version: 1, decode: sagaRecord },
} satisfies CollectionDefinition<SagaRecord>;

function sagaRecord(json: unknown): SagaRecord {
  const record = json as Partial<SagaRecord> | null;
  if (typeof record?.id !== "string" || typeof record.owner !== "string" || !Array.isArray(record.steps)) {
    throw new TypeError("not a saga record");
  }
  return record as SagaRecord;
}
