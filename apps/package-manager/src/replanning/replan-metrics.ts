import type { Counter, Gauge, Meter } from "@oaas/observability";

/** Metrics of the re-planner. */
export interface ReplanMetrics {
  readonly active: Gauge;
  readonly lostClusters: Gauge;
  readonly reviews: Counter<"result">;
}

export function replanMetrics(meter: Meter): ReplanMetrics {
  return {
    active: meter.gauge({
      name: "pm_replan_active",
      help: "Whether this process re-plans deployments: 1 in one process of an installation.",
      startAtZero: [{}],
    }),
    lostClusters: meter.gauge({
      name: "pm_replan_lost_clusters",
      help: "Clusters that do not answer or are unhealthy, on the active process.",
      startAtZero: [{}],
    }),
    reviews: meter.counter({
      name: "pm_replans_total",
      help: "New plans for running deployments, by result.",
      labels: ["result"],
      startAtZero: [{ result: "proposed" }, { result: "applied" }, { result: "blocked" }],
    }),
  };
}
