import { unavailable, type BreakerState, type Fault } from "@oaas/foundation";
import { SIGNALS, type Signal } from "@oaas/nfr";
import { buildQuery } from "@oaas/nfr/queries";
import type { LabelledSeries, QueryResult, RangeQuery } from "@oaas/prometheus-client";
import type { MetricsProvider } from "../analysis/metrics-provider.ts";

/** The value of a series at a time; undefined is a gap. */
export type ValueAt = (atMs: number) => number | undefined;

/** A series of a signal. */
export interface ScriptedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly valueAt: ValueAt;
}

export type Script = Partial<Record<Signal, readonly ScriptedSeries[]>>;

/** A metrics provider whose series are functions of time. */
export interface ScriptedPrometheus extends MetricsProvider {
  readonly asked: (RangeQuery & { readonly signal: Signal })[];
  breaker: BreakerState;
  /** Fails all queries while set. */
  outage: Fault | undefined;
  /** Fails the queries of these signals. */
  broken: ReadonlySet<Signal>;
  /** Replaces parts of every answer. */
  changes: Partial<QueryResult>;
  script: Script;
}

export function scriptedPrometheus(
  script: Script,
  scope: { readonly namespaces: readonly string[]; readonly windowMs: number },
): ScriptedPrometheus {
  const signalOf = new Map<string, Signal>();
  for (const windowMs of [scope.windowMs, 300_000]) {
    for (const signal of SIGNALS) signalOf.set(buildQuery(signal, { ...scope, windowMs }, "prometheus"), signal);
  }
  const provider: ScriptedPrometheus = {
    asked: [],
    breaker: "closed",
    outage: undefined,
    broken: new Set(),
    changes: {},
    script,
    queryRange: async (query) => {
      const signal = signalOf.get(query.expression);
      if (signal === undefined) throw unavailable("script", `unexpected query ${query.expression}`);
      provider.asked.push({ ...query, signal });
      if (provider.outage !== undefined) throw provider.outage;
      if (provider.broken.has(signal)) throw unavailable("script", `${signal} is broken`);
      const series = (provider.script[signal] ?? []).map((one) => samplesOf(one, query));
      return { series, warnings: [], isPartial: false, droppedSamples: 0, duplicates: [], ...provider.changes };
    },
    queryInstant: async () => ({ series: [], warnings: [], isPartial: false, droppedSamples: 0, duplicates: [] }),
    healthCheck: async () =>
      provider.outage === undefined
        ? { isHealthy: true, latencyMs: 1, warnings: [] }
        : { isHealthy: false, reason: provider.outage.message },
  };
  return provider;
}

function samplesOf({ labels, valueAt }: ScriptedSeries, { startMs, endMs, stepMs }: RangeQuery): LabelledSeries {
  const samples: { atMs: number; value: number }[] = [];
  for (let atMs = startMs; atMs <= endMs; atMs += stepMs) {
    const value = valueAt(atMs);
    if (value !== undefined) samples.push({ atMs, value });
  }
  return { labels, samples };
}
