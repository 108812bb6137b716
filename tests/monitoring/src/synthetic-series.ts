import type { Series } from "@oaas/testkit";
import { EXTERNAL_METRICS, type ExternalMetric } from "./external-metrics.ts";

const STEP_MS = 15_000;
const STEPS = 120;
const PER_SECOND = 20;

/** Cumulative shares of a histogram, in seconds or, for Knative, milliseconds: most requests take 0.1 to 0.5 s. */
const BUCKETS = { "0.1": 0.2, "0.5": 0.9, "1": 1, "+Inf": 1 };

/** Half an hour of all metrics of other programs, for the class `web`, until a time. */
export function syntheticSeries(untilMs: number): Series[] {
  const times = Array.from({ length: STEPS }, (_, index) => untilMs - (STEPS - 1 - index) * STEP_MS);
  return Object.entries(EXTERNAL_METRICS).flatMap(([name, metric]) => seriesOf(name, metric, times));
}

function seriesOf(name: string, { type, labels }: ExternalMetric, times: readonly number[]): Series[] {
  // A label without a value does not exist.
  const present = Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ""));
  const counter = (suffix: string, perSecond: number, more = {}): Series => ({
    labels: { __name__: `${name}${suffix}`, ...present, ...more },
    samples: times.map((atMs, index) => ({ atMs, value: 100 + (index * perSecond * STEP_MS) / 1000 })),
  });
  if (type === "counter") return [counter("", PER_SECOND)];
  if (type === "gauge") {
    const samples = times.map((atMs) => ({ atMs, value: 1 }));
    return [{ labels: { __name__: name, ...present }, samples }];
  }
  const buckets = Object.entries(BUCKETS).map(([le, share]) => counter("_bucket", PER_SECOND * share, { le }));
  return [...buckets, counter("_count", PER_SECOND), counter("_sum", PER_SECOND * 0.3)];
}
