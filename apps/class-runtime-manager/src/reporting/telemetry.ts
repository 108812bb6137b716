import type { Counter, Gauge, Meter } from "@oaas/observability";

/** What reporting counts. */
export interface ReportingMetrics {
  readonly reports: Counter<"about" | "outcome">;
  readonly queued: Gauge;
}

export function reportingMetrics(meter: Meter): ReportingMetrics {
  const outcomes = ["sent", "failed", "refused", "dropped"];
  return {
    reports: meter.counter({
      name: "crm_pm_reports_total",
      help: "Reports to the package manager: sent, failed (and tried again), refused by it, or dropped.",
      labels: ["about", "outcome"],
      startAtZero: ["status", "metrics"].flatMap((about) => outcomes.map((outcome) => ({ about, outcome }))),
    }),
    queued: meter.gauge({
      name: "crm_pm_reports_queued",
      help: "Reports that wait to be sent to the package manager.",
      startAtZero: [{}],
    }),
  };
}
