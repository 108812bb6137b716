import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** Metrics of the drift reconciler. */
export interface DriftMetrics {
  /** 1 in the process that reconciles. */
  readonly active: Gauge;
  readonly sweeps: Counter<"outcome">;
  readonly sweepSeconds: Histogram;
  readonly unreachable: Gauge;
  readonly repairs: Counter;
  readonly drifted: Counter;
  readonly removed: Counter;
}

export function driftMetrics(meter: Meter): DriftMetrics {
  return {
    active: meter.gauge({
      name: "pm_drift_active",
      help: "1 in the process that compares clusters with the desired state; one process of an installation has it.",
      startAtZero: [{}],
    }),
    sweeps: meter.counter({
      name: "pm_drift_sweeps_total",
      help: "Comparisons of all clusters with the desired state, by outcome: complete, partial (a cluster did not answer) or failed.",
      labels: ["outcome"],
      startAtZero: [{ outcome: "complete" }, { outcome: "partial" }, { outcome: "failed" }],
    }),
    sweepSeconds: meter.histogram({
      name: "pm_drift_sweep_seconds",
      help: "Duration of a comparison of all clusters with the desired state.",
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    }),
    unreachable: meter.gauge({
      name: "pm_drift_unreachable_clusters",
      help: "Clusters that did not answer in the last sweep.",
      startAtZero: [{}],
    }),
    repairs: meter.counter({
      name: "pm_drift_repairs_total",
      help: "Repairs of deployments that differed from their desired state.",
      startAtZero: [{}],
    }),
    drifted: meter.counter({
      name: "pm_drift_units_total",
      help: "Units that were found changed or missing in their cluster and sent again.",
      startAtZero: [{}],
    }),
    removed: meter.counter({
      name: "pm_drift_surplus_removed_total",
      help: "Own units that no deployment wanted and that were removed.",
      startAtZero: [{}],
    }),
  };
}
