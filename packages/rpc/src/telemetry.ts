import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** Metrics of a gRPC server. */
export interface RpcMetrics {
  readonly handled: Counter<"method" | "code">;
  readonly duration: Histogram<"method">;
  readonly inFlight: Gauge;
  /** By the exceeded limit: connections, or address. */
  readonly connectionsRejected: Counter<"limit">;
}

export function rpcMetrics(meter: Meter): RpcMetrics {
  return {
    handled: meter.counter({
      name: "grpc_server_handled_total",
      help: "Completed calls by method and status code.",
      labels: ["method", "code"],
    }),
    duration: meter.histogram({
      name: "grpc_server_handling_seconds",
      help: "Time from receiving a request to the end of its response.",
      labels: ["method"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
    }),
    connectionsRejected: meter.counter({
      name: "grpc_server_connections_rejected_total",
      help: "Connections closed at once, by the exceeded limit: connections (all) or address (of one address).",
      labels: ["limit"],
      startAtZero: [{ limit: "connections" }, { limit: "address" }],
    }),
    inFlight: meter.gauge({ name: "grpc_server_in_flight", help: "Running calls.", startAtZero: [{}] }),
  };
}
