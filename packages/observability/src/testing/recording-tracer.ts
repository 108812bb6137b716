import { Fault, type FaultCode } from "@oaas/foundation";
import type { SpanContext } from "../trace-context.ts";
import type { SpanAttributes, SpanKind, Tracer } from "../tracer.ts";
import { inContext, type ContextStore } from "../work-context.ts";

/** A span as a test sees it. */
export interface RecordedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  readonly attributes: SpanAttributes;
  readonly faultCode: FaultCode | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

export interface RecordingTracer {
  readonly tracer: Tracer;
  /** In the order they were started. */
  readonly spans: readonly RecordedSpan[];
}

/** A tracer that samples everything and counts its ids, so that a test's spans compare. */
export function createRecordingTracer(
  context: ContextStore,
  clock: { now(): number } = { now: () => 0 },
): RecordingTracer {
  const spans: RecordedSpan[] = [];
  const idOf = (count: number, digits: number): string => count.toString(16).padStart(digits, "0");
  const tracer: Tracer = {
    start: (name, { kind = "internal", attributes = {}, parent } = {}) => {
      const from = parent ?? context.current().span;
      const index = spans.length;
      const own: SpanContext = {
        traceId: from?.traceId ?? idOf(index + 1, 32),
        spanId: idOf(index + 1, 16),
        sampled: true,
      };
      let span: RecordedSpan = {
        name,
        kind,
        context: own,
        parentSpanId: from?.spanId,
        attributes,
        faultCode: undefined,
        startedAt: clock.now(),
        endedAt: undefined,
      };
      const change = (to: Partial<RecordedSpan>): void => {
        if (span.endedAt === undefined) spans[index] = span = { ...span, ...to };
      };
      spans.push(span);
      return {
        context: own,
        setAttributes: (more) => change({ attributes: { ...span.attributes, ...more } }),
        recordFault: (thrown) => change({ faultCode: Fault.from(thrown).code }),
        end: () => change({ endedAt: clock.now() }),
      };
    },
    run: (span, work) => inContext(context, { span: span.context }, work),
  };
  return { tracer, spans };
}
