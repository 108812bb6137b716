import type { CorrelationId } from "./correlation.ts";
import { LOG_FIELDS } from "./log-fields.ts";
import type { SpanContext } from "./trace-context.ts";

/** What a piece of work belongs to. It follows the work through its calls without being passed by hand. */
export interface WorkContext {
  readonly correlationId?: CorrelationId | undefined;
  readonly deploymentId?: string | undefined;
  readonly span?: SpanContext | undefined;
}

/** Keeps the context of the work that is running. */
export interface ContextStore {
  current(): WorkContext;
  /** Runs `work`, and everything it awaits or starts, in this context instead of the current one. */
  run<T>(context: WorkContext, work: () => T): T;
}

const NOWHERE: WorkContext = {};

/** A store that keeps nothing. */
export const NOOP_CONTEXT: ContextStore = { current: () => NOWHERE, run: (_context, work) => work() };

/** Runs `work` in the current context with some of it replaced. */
export function inContext<T>(store: ContextStore, change: WorkContext, work: () => T): T {
  return store.run({ ...store.current(), ...change }, work);
}

/** The fields by which a log line shows its context. */
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
