import type { Counter, Gauge, Meter } from "@oaas/observability";

/** What informers count. */
export interface InformerMetrics {
  readonly objects: Gauge<"informer">;
  readonly events: Counter<"informer" | "type">;
  readonly restarts: Counter<"informer" | "reason">;
}

export function informerMetrics(meter: Meter): InformerMetrics {
  return {
    objects: meter.gauge({ name: "kube_informer_objects", help: "Objects in the cache.", labels: ["informer"] }),
    events: meter.counter({
      name: "kube_informer_events_total",
      help: "Changes that reached the cache, by type.",
      labels: ["informer", "type"],
    }),
    restarts: meter.counter({
      name: "kube_informer_restarts_total",
      help: "Watches that were restarted, by reason: failed, silent, expired.",
      labels: ["informer", "reason"],
    }),
  };
}
