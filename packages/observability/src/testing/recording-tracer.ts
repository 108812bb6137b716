import type { Ids } from "@oaas/foundation";
import { createTracer, type FinishedSpan, type Tracer } from "../tracer.ts";
import type { ContextStore } from "../work-context.ts";

/** A tracer that keeps every span, in the order of their ends. */
export interface RecordingTracer extends Tracer {
  readonly spans: readonly FinishedSpan[];
}

export function createRecordingTracer(options: {
  readonly context: ContextStore;
  readonly ids: Ids;
  readonly clock?: { now(): number; monotonic(): number };
}): RecordingTracer {
  const spans: FinishedSpan[] = [];
  const clock = options.clock ?? { now: () => 0, monotonic: () => 0 };
  const tracer = createTracer({
    ...options,
    clock,
    sampler: () => true,
    sink: { add: (span) => void spans.push(span) },
  });
  return { ...tracer, spans };
}
