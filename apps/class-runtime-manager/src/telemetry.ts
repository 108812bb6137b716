import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** What the class runtime manager counts beside what its parts count themselves. */
export interface CrmMetrics {
  /** By what became of the request: created, updated, unchanged or deleted. */
  readonly deployments: Counter<"outcome">;
  readonly activeDeployments: Gauge;
  readonly reconciliation: Histogram<"kind">;
}

/** The metrics that dashboards of earlier releases look for, under the same names. */
export function crmMetrics(meter: Meter): CrmMetrics {
  return {
    deployments: meter.counter({
      name: "crm_deployments_total",
      help: "Deployment requests that were carried out, by outcome.",
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
      help: "Time of one reconcile, by kind.",
      labels: ["kind"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    }),
  };
}
