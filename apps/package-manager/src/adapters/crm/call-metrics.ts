import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

/** What is counted of the calls to clusters. */
export interface CrmCallMetrics {
  readonly calls: Counter<"cluster" | "method" | "outcome">;
  readonly duration: Histogram<"cluster" | "method">;
  readonly breaker: Gauge<"cluster">;
}

export function crmCallMetrics(meter: Meter): CrmCallMetrics {
  return {
    calls: meter.counter({
      name: "pm_crm_calls_total",
      help: "Calls to class runtime managers, retries included, by the kind of fault they ended with or ok.",
      labels: ["cluster", "method", "outcome"],
    }),
    duration: meter.histogram({
      name: "pm_crm_call_seconds",
      help: "Time of a call to a class runtime manager, waiting and retries included.",
      labels: ["cluster", "method"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30],
    }),
    breaker: meter.gauge({
      name: "pm_crm_breaker_state",
      help: "Circuit breaker of a cluster: 0 closed, 1 half open, 2 open.",
      labels: ["cluster"],
    }),
  };
}
