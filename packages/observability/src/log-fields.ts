/** Names of log line fields. Dashboards and alerts depend on them. */
export const LOG_FIELDS = {
  time: "time",
  level: "level",
  message: "message",
  service: "service",
  version: "version",
  correlationId: "correlation_id",
  deploymentId: "deployment_id",
  traceId: "trace_id",
  spanId: "span_id",
  fault: "fault",
} as const;

/** Fields written by the logger itself. A caller's field with one of these names gets a trailing underscore. */
export const RESERVED_FIELDS: ReadonlySet<string> = new Set([LOG_FIELDS.time, LOG_FIELDS.level, LOG_FIELDS.message]);
