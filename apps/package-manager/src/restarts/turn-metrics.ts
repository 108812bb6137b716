import type { Counter, Gauge, Meter } from "@oaas/observability";

/** Metrics of the restart turns. */
export interface TurnMetrics {
  readonly open: Gauge;
  readonly granted: Counter;
}

export function turnMetrics(meter: Meter): TurnMetrics {
  return {
    open: meter.gauge({
      name: "pm_restart_turns_open",
      help: "Nodes of state stores in several clusters that have their turn to restart, on the active process.",
      startAtZero: [{}],
    }),
    granted: meter.counter({
      name: "pm_restart_turns_total",
      help: "Turns to restart that nodes of state stores in several clusters got.",
      labels: [],
      startAtZero: [{}],
    }),
  };
}
