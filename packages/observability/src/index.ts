/**
 * Logs, metrics and traces as ports. Nothing here does input or output or knows a library.
 *
 * Reading order: log-fields (the names), logger, loggable (any value made fit for a line), meter, tracer with
 * trace-context (W3C), correlation (ids and headers), work-context (what follows the work by itself).
 * `@oaas/observability/node` has the real wiring, for `main.ts` only; `@oaas/observability/testing` records.
 */
export { LOG_FIELDS } from "./log-fields.ts";
export {
  createLogger,
  LOG_LEVELS,
  NOOP_LOGGER,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  type LogRecord,
  type LogSink,
  type LogThreshold,
} from "./logger.ts";
export { loggable } from "./loggable.ts";
export {
  NOOP_METER,
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramSpec,
  type Labels,
  type Meter,
  type MetricSpec,
} from "./meter.ts";
export {
  createPropagatingTracer,
  inSpan,
  NOOP_TRACER,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type SpanOptions,
  type Tracer,
} from "./tracer.ts";
export {
  formatTraceparent,
  parseTraceparent,
  TRACEPARENT_HEADER,
  TRACESTATE_HEADER,
  type SpanContext,
} from "./trace-context.ts";
export {
  contextFromHeaders,
  CORRELATION_HEADER,
  ensureCorrelationId,
  headersFromContext,
  parseCorrelationId,
  type CorrelationId,
} from "./correlation.ts";
export { contextFields, inContext, NOOP_CONTEXT, type ContextStore, type WorkContext } from "./work-context.ts";
