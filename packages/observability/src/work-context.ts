import type { CorrelationId } from "./correlation.ts";
import { LOG_FIELDS } from "./log-fields.ts";
import type { SpanContext } from "./trace-context.ts";

/** Identifies a unit of work. It follows the work through its calls without being passed as an argument. */
export interface WorkContext {
  readonly correlationId?: CorrelationId | undefined;
  readonly deploymentId?: string | undefined;
  readonly span?: SpanContext | undefined;
}

/** Holds the context of the running work. */
export interface ContextStore {
  current(): WorkContext;
  /** Runs `work` and everything it awaits or starts in this context. */
  run<T>(context: WorkContext, work: () => T): T;
}

const EMPTY: WorkContext = {};

/** Stores nothing. */
export const NOOP_CONTEXT: ContextStore = { current: () => EMPTY, run: (_context, work) => work() };

/** Runs `work` in the current context with the given changes. */
export function inContext<T>(store: ContextStore, change: WorkContext, work: () => T): T {
  return store.run({ ...store.current(), ...change }, work);
}

/** Returns the log fields of a context. */
export function contextFields(context: WorkContext): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (context.correlationId !== undefined) fields[LOG_FIELDS.correlationId] = context.correlationId;
  if (context.deploymentId !== undefined) fields[LOG_FIELDS.deploymentId] = context.deploymentId;
  if (context.span !== undefined) {
    fields[LOG_FIELDS.traceId] = context.span.traceId;
    fields[LOG_FIELDS.spanId] = context.span.spanId;
  }
  return fields;
}
