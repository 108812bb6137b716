import type { SpanContext } from "./trace-context.ts";
import { inContext, NOOP_CONTEXT, type ContextStore } from "./work-context.ts";

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Which side of a call a span is. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  /** By default the span of the current context. */
  readonly parent?: SpanContext | undefined;
}

/** A timed piece of work. Nothing happens to it after `end`. */
export interface Span {
  /** Undefined when nothing is traced. */
  readonly context: SpanContext | undefined;
  setAttributes(attributes: SpanAttributes): void;
  /** Marks the span as failed, with kind and code of the fault. */
  recordFault(thrown: unknown): void;
  end(): void;
}

/** Traces work. Never throws. */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
  /** Runs `work` with the span as the current one, so that spans and calls inside become its children. */
  run<T>(span: Span, work: () => T): T;
}

/** Traces `work` from start to end; what it throws is recorded and thrown on. */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.start(name, options);
  try {
    return await tracer.run(span, () => work(span));
  } catch (thrown) {
    span.recordFault(thrown);
    throw thrown;
  } finally {
    span.end();
  }
}

/** Records nothing, but carries a caller's trace through to the calls made on its behalf. */
export function createPropagatingTracer(store: ContextStore): Tracer {
  return {
    start: (_name, options) => unrecordedSpan(options?.parent ?? store.current().span),
    run: (span, work) => (span.context === undefined ? work() : inContext(store, { span: span.context }, work)),
  };
}

function unrecordedSpan(context: SpanContext | undefined): Span {
  return { context, setAttributes: () => undefined, recordFault: () => undefined, end: () => undefined };
}

/** Records nothing and carries nothing. */
export const NOOP_TRACER: Tracer = createPropagatingTracer(NOOP_CONTEXT);
