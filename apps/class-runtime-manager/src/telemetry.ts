import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** Metrics of the class runtime manager beside those of its packages. */
export interface CrmMetrics {
  /** By outcome: created, updated, unchanged or deleted. */
  readonly deployments: Counter<"outcome">;
  readonly activeDeployments: Gauge;
  readonly reconciliation: Histogram<"kind">;
}

/** Creates the metrics, with the names of earlier releases. */
export function crmMetrics(meter: Meter): CrmMetrics {
  return {
    deployments: meter.counter({
      name: "crm_deployments_total",
      help: "Completed deployment requests, by outcome.",
      labels: ["outcome"],
      startAtZero: ["created", "updated", "unchanged", "deleted"].map((outcome) => ({ outcome })),
    }),
    activeDeployments: meter.gauge({
      name: "crm_active_deployments",
      help: "Class runtimes in the served namespaces.",
      startAtZero: [{}],
    }),
    reconciliation: meter.histogram({
      name: "crm_reconciliation_duration_seconds",
      help: "Duration of a reconcile, by kind.",
      labels: ["kind"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    }),
  };
}
