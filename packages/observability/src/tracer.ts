import type { Clock, Ids } from "@oaas/foundation";
import type { SpanContext } from "./trace-context.ts";
import { inContext, type ContextStore } from "./work-context.ts";

export type AttributeValue = string | number | boolean;
/** Attributes of a span, named by the OpenTelemetry semantic conventions; own names start with `oaas.`. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** A span to start. */
export interface SpanStart {
  /** Of low cardinality: an operation, never an identifier. */
  readonly name: string;
  /** Default internal. */
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Default: the span of the current work context. `root` starts a new trace. */
  readonly parent?: SpanContext | "root" | undefined;
  /** Spans of other traces that caused this one. */
  readonly links?: readonly SpanContext[];
  /** Start no span without a parent, for calls that are of interest only as a part of other work. */
  readonly childOnly?: boolean;
}

/** A running span. */
export interface Span {
  /** Undefined when no trace is active. */
  readonly context: SpanContext | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. A rejected `work` does this too. */
  fail(message: string): void;
}

/** Starts spans. */
export interface Tracer {
  /** Runs `work` in a new span, which ends when `work` settles, and which is the span of the work context meanwhile. */
  run<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
}

/** A finished span. */
export interface FinishedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentSpanId?: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly links: readonly SpanContext[];
  /** Set when the work failed. */
  readonly failure?: string | undefined;
}

/** Receives finished spans. Must neither throw nor block. */
export interface SpanSink {
  add(span: FinishedSpan): void;
}

/** Decides for a new span whether it is recorded. */
export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean;

export interface TracerOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly context: ContextStore;
  readonly sampler: Sampler;
  readonly sink: SpanSink;
}

const MAX_ATTRIBUTES = 64;
const MAX_TEXT = 1_024;

const NOOP_SPAN: Span = { context: undefined, set: () => undefined, fail: () => undefined };

/** Records nothing; the trace context of a request is still forwarded. */
export const NOOP_TRACER: Tracer = { run: (_start, work) => work(NOOP_SPAN) };

/** Creates a tracer that sends sampled spans to a sink. */
export function createTracer(options: TracerOptions): Tracer {
  const { context, sampler, ids } = options;
  return {
    run: (start, work) => {
      const parent = start.parent === "root" ? undefined : (start.parent ?? context.current().span);
      if (parent === undefined && start.childOnly === true) return work(NOOP_SPAN);
      const traceId = parent?.traceId ?? ids.uuid().replaceAll("-", "");
      const sampled = sampler(traceId, parent);
      // The span id of an unsampled parent stands for all its unsampled children.
      if (!sampled && parent?.sampled === false) {
        const unsampled = { ...NOOP_SPAN, context: parent };
        // It already is the span of the work context unless the caller named it.
        return start.parent === undefined
          ? work(unsampled)
          : inContext(context, { span: parent }, () => work(unsampled));
      }
      const span: SpanContext = {
        traceId,
        spanId: newSpanId(ids),
        sampled,
        ...(parent?.traceState === undefined ? {} : { traceState: parent.traceState }),
      };
      if (!sampled) return inContext(context, { span }, () => work({ ...NOOP_SPAN, context: span }));
      return inContext(context, { span }, () => record(options, start, { span, parent }, work));
    },
  };
}

async function record<T>(
  { clock, sink }: TracerOptions,
  { name, kind = "internal", attributes: initial = {}, links = [] }: SpanStart,
  { span, parent }: { readonly span: SpanContext; readonly parent: SpanContext | undefined },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const startMs = clock.now();
  // The wall clock may jump; the duration comes from the monotonic clock.
  const startedAt = clock.monotonic();
  const attributes: Record<string, AttributeValue> = {};
  let failure: string | undefined;
  const set = (values: Attributes): void => {
    let count = Object.keys(attributes).length;
    for (const [key, value] of Object.entries(values)) {
      if (value === undefined) continue;
      if (!(key in attributes) && (count += 1) > MAX_ATTRIBUTES) return;
      attributes[key] = typeof value === "string" ? value.slice(0, MAX_TEXT) : value;
    }
  };
  set(initial);
  const running: Span = { context: span, set, fail: (message) => void (failure = message.slice(0, MAX_TEXT)) };
  try {
    return await work(running);
  } catch (thrown) {
    running.fail(thrown instanceof Error ? thrown.message : String(thrown));
    running.set({ "error.type": errorType(thrown) });
    throw thrown;
  } finally {
    const endMs = startMs + (clock.monotonic() - startedAt);
    sink.add({ name, kind, context: span, parentSpanId: parent?.spanId, startMs, endMs, attributes, links, failure });
  }
}

/** The kind of a fault, else the name of the error class. */
function errorType(thrown: unknown): string {
  const { kind, name } = (thrown ?? {}) as { readonly kind?: unknown; readonly name?: unknown };
  return typeof kind === "string" ? kind : typeof name === "string" ? name : "_OTHER";
}

/** The second half of a UUID: its first half may contain the time. */
function newSpanId(ids: Ids): string {
  return ids.uuid().replaceAll("-", "").slice(16);
}
