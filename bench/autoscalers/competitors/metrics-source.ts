/**
 * What the competitors see. same: all read what Prometheus has, a scrape every 15 s that is 30 s late. own: each reads what
 * it reads in a cluster; the horizontal pod autoscaler has metrics-server, and Knative scrapes its pods every second.
 */
export type MetricsSource = "same" | "own";

export const PROMETHEUS = { scrapeMs: 15_000, lagMs: 30_000 } as const;
