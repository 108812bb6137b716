/**
 * Logs, metrics and work context as ports, without input or output and without a library.
 *
 * Reading order: log-fields (the names), logger, log-value (conversion and redaction), meter with metrics-format, correlation with
 * trace-context (ids and headers), work-context (fields that follow the work), tracer with sampler and otlp-json (spans).
 * `@oaas/observability/node` has the real implementations, for `main.ts` only; `@oaas/observability/testing` records.
 */
export { LOG_FIELDS } from "./log-fields.ts";
export { LOG_LEVELS, NOOP_LOGGER, type LogFields, type Logger, type LogLevel, type LogThreshold } from "./logger.ts";
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
export { METRICS_TYPES, selectMetricsFormat, type MetricsFormat } from "./metrics-format.ts";
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
export {
  createTracer,
  NOOP_TRACER,
  type AttributeValue,
  type Attributes,
  type FinishedSpan,
  type Sampler,
  type Span,
  type SpanKind,
  type SpanSink,
  type SpanStart,
  type Tracer,
  type TracerOptions,
} from "./tracer.ts";
export { createSampler, SAMPLER_NAMES, type SamplerName } from "./sampler.ts";
