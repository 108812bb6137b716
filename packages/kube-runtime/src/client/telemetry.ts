import type { Counter, Histogram, Meter } from "@oaas/observability";

/** What the client counts. */
export interface ClientMetrics {
  readonly requests: Counter<"verb" | "kind" | "code">;
  readonly duration: Histogram<"verb">;
}

/** Declares what the client counts. */
export function clientMetrics(meter: Meter): ClientMetrics {
  return {
    requests: meter.counter({
      name: "kube_client_requests_total",
      help: "Requests to the Kubernetes API by verb, kind and HTTP code; none when there was no answer.",
      labels: ["verb", "kind", "code"],
    }),
    duration: meter.histogram({
      name: "kube_client_request_duration_seconds",
      help: "Time from sending a request to the first line of its answer.",
      labels: ["verb"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    }),
  };
}
