import type { Meter } from "@oaas/observability";

/** Registers the metrics of HTTP requests; returns the function that counts one. */
export function httpMetrics(meter: Meter): (operation: string, status: number, seconds: number) => void {
  const requests = meter.counter({
    name: "pm_http_requests_total",
    help: "Requests by operation and response status.",
    labels: ["operation", "status"],
  });
  const durations = meter.histogram({
    name: "pm_http_request_seconds",
    help: "Time from receiving a request to sending its response.",
    labels: ["operation"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
  });
  return (operation, status, seconds) => {
    requests.add(1, { operation, status: String(status) });
    durations.observe(seconds, { operation });
  };
}
