import type { Meter } from "@oaas/observability";

/** What is measured of requests. */
export function httpMetrics(meter: Meter): { observe(operation: string, status: number, seconds: number): void } {
  const requests = meter.counter({
    name: "pm_http_requests_total",
    help: "Requests answered, by operation and status.",
    labels: ["operation", "status"],
  });
  const durations = meter.histogram({
    name: "pm_http_request_seconds",
    help: "Time from the request's arrival to its answer.",
    labels: ["operation"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
  });
  // Labels are the same for each request of an operation, and every request passes here.
  const known = new Map<string, Map<number, { readonly operation: string; readonly status: string }>>();
  const labelsOf = (operation: string, status: number) => {
    let byStatus = known.get(operation);
    if (byStatus === undefined) known.set(operation, (byStatus = new Map()));
    let labels = byStatus.get(status);
    if (labels === undefined) byStatus.set(status, (labels = { operation, status: String(status) }));
    return labels;
  };
  return {
    observe: (operation, status, seconds) => {
      requests.add(1, labelsOf(operation, status));
      durations.observe(seconds, { operation });
    },
  };
}
