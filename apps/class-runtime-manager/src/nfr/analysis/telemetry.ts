import { REQUIREMENTS } from "@oaas/nfr";
import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** Metrics of the analyzer. */
export interface AnalyzerMetrics {
  readonly queryDuration: Histogram<"signal">;
  readonly queryErrors: Counter<"signal" | "kind">;
  readonly tickDuration: Histogram;
  readonly dataAge: Gauge;
  readonly violations: Counter<"requirement">;
  readonly classes: Gauge<"observed">;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function analyzerMetrics(meter: Meter): AnalyzerMetrics {
  return {
    queryDuration: meter.histogram({
      name: "crm_nfr_query_duration_seconds",
      help: "Duration of successful metrics queries, by signal.",
      labels: ["signal"],
      buckets: SECONDS,
    }),
    queryErrors: meter.counter({
      name: "crm_nfr_query_errors_total",
      help: "Failed or partial metrics queries, by signal and kind of fault.",
      labels: ["signal", "kind"],
    }),
    tickDuration: meter.histogram({
      name: "crm_nfr_tick_duration_seconds",
      help: "Duration of one measurement of all classes.",
      buckets: SECONDS,
    }),
    dataAge: meter.gauge({
      name: "crm_nfr_data_age_seconds",
      help: "Age of the newest sample over all classes; keeps growing during an outage of Prometheus.",
    }),
    violations: meter.counter({
      name: "crm_nfr_violations_total",
      help: "Requirements that became violated, by requirement.",
      labels: ["requirement"],
      startAtZero: REQUIREMENTS.map((requirement) => ({ requirement })),
    }),
    classes: meter.gauge({
      name: "crm_nfr_classes",
      help: "Measured classes, by the status of NfrObserved.",
      labels: ["observed"],
      startAtZero: [{ observed: "True" }, { observed: "Unknown" }],
    }),
  };
}
