import { formatSample, type TimeSeriesStore } from "@oaas/promql";

/** How old the newest sample of a series may be: longer than the interval of the samples. */
const MAX_AGE_MS = 12_000;

/** The newest samples as text that a Prometheus scrapes. Series that ended are left out. */
export function formatExposition(store: TimeSeriesStore, nowMs: number): string {
  const lines: string[] = [];
  for (const series of store.select([])) {
    const { values, stale } = series.slice(nowMs - MAX_AGE_MS, nowMs);
    const value = values.at(-1);
    if (value !== undefined && stale.at(-1) !== 1) lines.push(formatSample(series.labels, value));
  }
  // The text format wants the series of one metric together.
  return `${lines.toSorted().join("\n")}\n`;
}
