import type { Counter, Histogram, Meter } from "@oaas/observability";

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
  // Every request passes here: the series of an operation and a status are looked up once.
  const known = new Map<string, Map<number, Series>>();
  const seriesOf = (operation: string, status: number): Series => {
    let byStatus = known.get(operation);
    if (byStatus === undefined) known.set(operation, (byStatus = new Map()));
    let series = byStatus.get(status);
    if (series === undefined) {
      series = {
        requests: requests.series({ operation, status: String(status) }),
        durations: durations.series({ operation }),
      };
      byStatus.set(status, series);
    }
    return series;
  };
  return {
    observe: (operation, status, seconds) => {
      const series = seriesOf(operation, status);
      series.requests.add(1);
      series.durations.observe(seconds);
    },
  };
}

interface Series {
  readonly requests: Pick<Counter, "add">;
  readonly durations: Pick<Histogram, "observe">;
}
