import type { Counter, Gauge, Meter } from "@oaas/observability";

/** Metrics of informers. */
export interface InformerMetrics {
  readonly objects: Gauge<"informer">;
  readonly events: Counter<"informer" | "type">;
  readonly restarts: Counter<"informer" | "reason">;
}

/** Series start at zero, so that dashboards have no gaps. */
export function informerMetrics(meter: Meter, informer: string): InformerMetrics {
  const metrics: InformerMetrics = {
    objects: meter.gauge({ name: "kube_informer_objects", help: "Objects in the cache.", labels: ["informer"] }),
    events: meter.counter({
      name: "kube_informer_events_total",
      help: "Changes applied to the cache, by type.",
      labels: ["informer", "type"],
    }),
    restarts: meter.counter({
      name: "kube_informer_restarts_total",
      help: "Watch restarts by reason: broken, silent, expired.",
      labels: ["informer", "reason"],
    }),
  };
  metrics.objects.set(0, { informer });
  for (const type of ["added", "updated", "deleted"]) metrics.events.add(0, { informer, type });
  for (const reason of ["broken", "silent", "expired"]) metrics.restarts.add(0, { informer, reason });
  return metrics;
}
