import type { PrometheusClient } from "@oaas/prometheus-client";

/** Where measurements come from. Scrape targets are rendered with the children of a class. */
export type MetricsProvider = Pick<PrometheusClient, "queryRange" | "queryInstant" | "healthCheck" | "breaker">;
