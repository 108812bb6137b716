import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

const OUTCOMES = ["settled", "wait-for-change", "check-again", "retried", "failed", "cancelled"] as const;

/** Result of a reconcile, for metrics. */
export type ReconcileResult = (typeof OUTCOMES)[number];

/** Metrics of a controller. */
export interface ControllerMetrics {
  readonly reconciles: Counter<"controller" | "result">;
  readonly duration: Histogram<"controller">;
  readonly active: Gauge<"controller">;
  readonly queueDepth: Gauge<"controller">;
  readonly queueAdds: Counter<"controller">;
  readonly queueRetries: Counter<"controller">;
  readonly queueWait: Histogram<"controller">;
}

/** Series start at zero, so that dashboards have no gaps. */
export function controllerMetrics(meter: Meter, controller: string): ControllerMetrics {
  const startAtZero = [{ controller }];
  const metrics: ControllerMetrics = {
    reconciles: meter.counter({
      name: "kube_controller_reconciles_total",
      help: "Reconciles by result: settled, wait-for-change, check-again, retried after a fault, failed for good, cancelled by a stop.",
      labels: ["controller", "result"],
    }),
    duration: meter.histogram({
      name: "kube_controller_reconcile_duration_seconds",
      help: "Duration of a reconcile.",
      labels: ["controller"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      startAtZero,
    }),
    active: meter.gauge({
      name: "kube_controller_active_workers",
      help: "Busy workers.",
      labels: ["controller"],
      startAtZero,
    }),
    queueDepth: meter.gauge({
      name: "kube_controller_queue_depth",
      help: "Waiting keys.",
      labels: ["controller"],
      startAtZero,
    }),
    queueAdds: meter.counter({
      name: "kube_controller_queue_adds_total",
      help: "Keys added.",
      labels: ["controller"],
      startAtZero,
    }),
    queueRetries: meter.counter({
      name: "kube_controller_queue_retries_total",
      help: "Keys added again after a fault.",
      labels: ["controller"],
      startAtZero,
    }),
    queueWait: meter.histogram({
      name: "kube_controller_queue_wait_seconds",
      help: "Time a key waited for a worker.",
      labels: ["controller"],
      buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
      startAtZero,
    }),
  };
  // A second controller on the same meter finds the metrics declared; its series must start at zero too.
  for (const result of OUTCOMES) metrics.reconciles.add(0, { controller, result });
  for (const counter of [metrics.queueAdds, metrics.queueRetries]) counter.add(0, { controller });
  for (const gauge of [metrics.active, metrics.queueDepth]) gauge.set(0, { controller });
  return metrics;
}
