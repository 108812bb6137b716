/** Names of the fields in a log line, in one place: dashboards and alerts depend on them. */
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

/** Fields that the logger itself writes; a caller's field of that name gets an underscore behind it. */
export const RESERVED_FIELDS: ReadonlySet<string> = new Set([LOG_FIELDS.time, LOG_FIELDS.level, LOG_FIELDS.message]);
