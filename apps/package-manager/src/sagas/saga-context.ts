import { inContext, type ContextStore, type CorrelationId } from "@oaas/observability";
import type { SagaKind } from "../saga-engine/kind.ts";

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
