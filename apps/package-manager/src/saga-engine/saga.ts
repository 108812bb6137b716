import type { CollectionDefinition } from "@oaas/storage";
import type { StoredFault } from "./stored-fault.ts";

/**
 * Sagas as data: a list of steps fixed before the first effect, and how far each has come.
 *
 * ```
 *   waiting ─▶ started ─▶ done ──┐
 *                 └─────▶ failed ┴─▶ undone | undo-failed
 * ```
 *
 * `started` is written before the effect: after a crash such a step may have happened, so it is performed again or undone,
 * and both must be idempotent.
 */
export type StepState = "waiting" | "started" | "done" | "failed" | "undone" | "undo-failed";

/** One effect on one outside thing. */
export interface SagaStep {
  /** Unique within the saga. */
  readonly id: string;
  /** What to do, in the words of the saga's kind. */
  readonly action: string;
  /** What it is done to; steps on one target are bounded together over all sagas. */
  readonly target: string;
  /** A stage begins when every step of the stages before it is done, or failed and may. */
  readonly stage: number;
  /** Its failure stops and undoes nothing, and the saga succeeds without it. */
  readonly mayFail?: boolean;
  readonly state: StepState;
  /** Why it failed, also when it was undone for that; or why its undoing did. */
  readonly fault?: StoredFault;
  /** What came of it, in words; of one whose undoing failed, why it was to be undone. */
  readonly note?: string;
}

/** How a saga may end. */
export type SagaOutcome = "succeeded" | "failed" | "undone" | "cancelled";
export type SagaState = "running" | "undoing" | SagaOutcome;

/** What a failed step means for the others: they go on, no further one starts, or everything is undone. */
export type FailurePolicy = "go-on" | "stop" | "undo";

/** What is asked of the engine. */
export interface NewSaga {
  readonly kind: string;
  /** Sagas on one subject run one after another; a newer one takes the place of an older. */
  readonly subject: string;
  readonly steps: readonly Pick<SagaStep, "id" | "action" | "target" | "stage" | "mayFail">[];
  /** How many steps may be under way at once. */
  readonly parallel: number;
  readonly onFailure: FailurePolicy;
  /** What the kind needs to know; plain JSON. */
  readonly data: unknown;
}

/** A saga as its journal has it. */
export interface SagaRecord extends Omit<NewSaga, "steps"> {
  readonly id: string;
  /** The engine that runs it, by the key whose lease proves that it is alive. */
  readonly owner: string;
  readonly state: SagaState;
  readonly steps: readonly SagaStep[];
  /** Journal writes so far: how a writer recognises its own after a lost answer. */
  readonly sequence: number;
  readonly cancelledBy?: string;
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

/** Whether nothing more is to be started: cancelled, or a failure that its policy does not pass over. */
function isHalted(saga: SagaRecord): boolean {
  return saga.cancelledBy !== undefined || (saga.onFailure !== "go-on" && saga.steps.some(isFailed));
}

/** Whether what was done so far must be undone. */
export function mustUndo(saga: SagaRecord): boolean {
  return saga.cancelledBy !== undefined || (saga.onFailure === "undo" && saga.steps.some(isFailed));
}

/**
 * The steps to perform now, given those already under way.
 *
 * A halted saga starts nothing new; unless it is to be undone, it finishes what a crash left half known.
 */
export function stepsToPerform(saga: SagaRecord, underWay: ReadonlySet<string>): readonly SagaStep[] {
  if (mustUndo(saga)) return [];
  const open = saga.steps.filter((step) => step.state === "waiting" || step.state === "started");
  const stage = Math.min(...open.map((step) => step.stage));
  if (saga.steps.some((step) => step.stage < stage && !isSettled(step))) return [];
  const halted = isHalted(saga);
  return open
    .filter((step) => step.stage === stage && !underWay.has(step.id) && (!halted || step.state === "started"))
    .slice(0, Math.max(0, saga.parallel - underWay.size));
}

/** The steps to undo, the last stage first; a step that never started has nothing to undo. */
export function stepsToUndo(saga: SagaRecord): readonly SagaStep[] {
  const left = saga.steps.filter(
    (step) => step.state === "started" || step.state === "done" || step.state === "failed",
  );
  const stage = Math.max(...left.map((step) => step.stage));
  return left.filter((step) => step.stage === stage);
}

/** How a saga ends on which nothing is left to do. */
export function outcomeOf(saga: SagaRecord): SagaOutcome {
  if (saga.state === "undoing") return saga.cancelledBy === undefined ? "undone" : "cancelled";
  return saga.steps.every(isSettled) ? "succeeded" : "failed";
}

function isFailed(step: SagaStep): boolean {
  return step.state === "failed" && step.mayFail !== true;
}

function isSettled(step: SagaStep): boolean {
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
    throw new TypeError("it is no saga");
  }
  return record as SagaRecord;
}
