import { EVENT_TOPICS } from "@oaas/contracts/rest";
import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";
import type { EventTopic } from "../use-cases.ts";

/** Metrics of the event feed. */
export interface FeedMetrics {
  readonly subscribers: Gauge;
  readonly delivered: Counter<"topic">;
  readonly lagSeconds: Histogram;
  readonly resyncs: Counter;
}

export function feedMetrics(meter: Meter): FeedMetrics {
  return {
    subscribers: meter.gauge({
      name: "pm_event_subscribers",
      help: "Open event streams.",
      startAtZero: [{}],
    }),
    delivered: meter.counter({
      name: "pm_events_delivered_total",
      help: "Events sent to streams, by topic.",
      labels: ["topic"],
      startAtZero: EVENT_TOPICS.map((topic: EventTopic) => ({ topic })),
    }),
    lagSeconds: meter.histogram({
      name: "pm_event_lag_seconds",
      help: "Time from an event to its delivery to a stream.",
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300],
    }),
    resyncs: meter.counter({
      name: "pm_event_resyncs_total",
      help: "Streams that must re-read their objects, because events they missed are no longer kept.",
      startAtZero: [{}],
    }),
  };
}
