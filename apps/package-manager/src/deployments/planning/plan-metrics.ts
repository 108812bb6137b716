import type { Counter, Histogram, Meter } from "@oaas/observability";
import type { PlanRefusal } from "../../planner/plan-types.ts";

type Reason = PlanRefusal["kind"];

/** Every reason, so that dashboards show each from the start. */
const REASONS: Readonly<Record<Reason, true>> = {
  invalid: true,
  disabled: true,
  "no-cluster": true,
  "no-usable-cluster": true,
  "out-of-reach": true,
  "throughput-out-of-reach": true,
};

/** Metrics of the planner. */
export interface PlanMetrics {
  readonly seconds: Histogram;
  readonly refusals: Counter<"reason">;
}

export function planMetrics(meter: Meter): PlanMetrics {
  return {
    seconds: meter.histogram({
      name: "pm_plan_seconds",
      help: "Time to compute a plan, without reading its inputs.",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
    }),
    refusals: meter.counter({
      name: "pm_plan_refusals_total",
      help: "Plans that the planner refused, by reason.",
      labels: ["reason"],
      startAtZero: (Object.keys(REASONS) as Reason[]).map((reason) => ({ reason })),
    }),
  };
}
