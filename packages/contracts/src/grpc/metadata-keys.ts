/** Every metadata key the services read or write; nobody else spells one. */
export const METADATA_KEYS = {
  /** Names a request through all processes, logs, annotations and Events. Echoed on success and on error. */
  correlationId: "x-correlation-id",
  /** W3C trace context. */
  traceparent: "traceparent",
  tracestate: "tracestate",
  /** `Bearer <token>`. */
  authorization: "authorization",
  /** The caller's deadline; see `parseGrpcTimeout`. */
  timeout: "grpc-timeout",
  /** Trailing; an `oaas.common.FaultStatus`. */
  fault: "oaas-fault-bin",
  /** Trailing; gRPC's own way to tell a client when to try again. */
  retryPushbackMs: "grpc-retry-pushback-ms",
} as const;
