import type { Counter, Histogram, Meter } from "@oaas/observability";

/** Metrics of the client. */
export interface ClientMetrics {
  readonly requests: Counter<"verb" | "kind" | "code">;
  readonly duration: Histogram<"verb">;
}

/** Declares the metrics of the client. */
export function clientMetrics(meter: Meter): ClientMetrics {
  return {
    requests: meter.counter({
      name: "kube_client_requests_total",
      help: "Requests to the Kubernetes API by verb, kind and HTTP code (none without a response).",
      labels: ["verb", "kind", "code"],
    }),
    duration: meter.histogram({
      name: "kube_client_request_duration_seconds",
      help: "Time from sending a request to the status line of its response.",
      labels: ["verb"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    }),
  };
}
