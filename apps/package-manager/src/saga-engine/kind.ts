import type { Transaction } from "@oaas/storage";
import type { SagaOutcome, SagaRecord, SagaStep } from "./saga.ts";

export interface StepCall {
  /** Aborts when the saga is cancelled, no longer this engine's, or to be undone. */
  readonly signal: AbortSignal;
}

/** What a saga's end writes, in the same transaction as the end itself. */
export interface FinalTransaction {
  readonly transaction: Transaction;
  /** The subject is gone, so that nobody will ask how its saga ended. */
  readonly forget?: boolean;
}

/** One run of a saga, with what its steps share. */
export interface SagaWork {
  /** Idempotent: performed twice is performed once. Answers what came of it, in words. */
  perform(step: SagaStep, call: StepCall): Promise<string>;
  /** Waits until what was performed has come about, where the next step depends on it. Never tried again. */
  confirm?(step: SagaStep, call: StepCall): Promise<void>;
  /** Idempotent, and right whether the step happened, half happened or did not. */
  undo(step: SagaStep, call: StepCall): Promise<string>;
  /** Called until its transaction could be committed, so it reads anew each time. */
  finish(saga: SagaRecord, outcome: SagaOutcome): Promise<FinalTransaction>;
}

/** What the steps of one kind of saga mean. */
export interface SagaKind {
  readonly name: string;
  open(saga: SagaRecord): Promise<SagaWork>;
}
