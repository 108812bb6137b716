import { inContext, type ContextStore, type CorrelationId } from "@oaas/observability";
import type { Transaction } from "@oaas/storage";
import type { SagaOutcome, SagaRecord, SagaStep } from "./saga.ts";

export interface StepCall {
  /** Aborts when the saga is cancelled, no longer this engine's, or to be undone. */
  readonly signal: AbortSignal;
}

/** The writes that end a saga, in the transaction that closes its journal. */
export interface FinalTransaction {
  readonly transaction: Transaction;
  /** Delete the journal too: the subject no longer exists. */
  readonly forget?: boolean;
}

/** The effects of one saga. */
export interface SagaWork {
  /** Performs a step. Must be idempotent. Returns a description of the result. */
  perform(step: SagaStep, call: StepCall): Promise<string>;
  /** Waits until the effect of a step is visible, where the next step depends on it. Not retried. */
  confirm?(step: SagaStep, call: StepCall): Promise<void>;
  /** Undoes a step that was performed, half performed or not at all. Must be idempotent. */
  undo(step: SagaStep, call: StepCall): Promise<string>;
  /** Builds the final writes. Called again after each conflict, so it reads the current state every time. */
  finish(saga: SagaRecord, outcome: SagaOutcome): Promise<FinalTransaction>;
}

/** The implementation of one kind of saga. */
export interface SagaKind {
  readonly name: string;
  /** Prepares a run. `committed` is the value passed to `stage`, when the saga was committed by this process. */
  open(saga: SagaRecord, committed?: unknown): Promise<SagaWork>;
}

/** The same kind; its calls carry the correlation id of the request that started the saga, in every process. */
export function withCorrelation(kind: SagaKind, context: ContextStore): SagaKind {
  return {
    name: kind.name,
    open: async (saga, committed) => {
      const { correlationId } = saga.data as { readonly correlationId?: CorrelationId };
      const within = <T>(work: () => T): T => inContext(context, { correlationId }, work);
      const work = await kind.open(saga, committed);
      return {
        perform: (step, call) => within(() => work.perform(step, call)),
        confirm: async (step, call) => within(() => work.confirm?.(step, call)),
        undo: (step, call) => within(() => work.undo(step, call)),
        finish: (ended, outcome) => work.finish(ended, outcome),
      };
    },
  };
}
