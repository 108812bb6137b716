/** One signal of one component, as the API returns it. */
interface SignalSeries {
  readonly component: string;
  readonly signal: string;
  readonly values: readonly (number | null)[];
  readonly target?: number | undefined;
  readonly target_kind?: string | undefined;
}

interface Signals {
  readonly start: string;
  readonly step_seconds: number;
  readonly series: readonly SignalSeries[];
  readonly marks: readonly {
    readonly at: string;
    readonly component: string;
    readonly dimension: string;
    readonly from?: number | undefined;
    readonly to: number;
  }[];
}

/** A chart of one signal. */
export interface SignalChart {
  readonly component: string;
  readonly signal: string;
  readonly unit: string;
  readonly points: readonly { readonly atMs: number; readonly value: number | null }[];
  readonly target: number | undefined;
  readonly targetKind: string | undefined;
  readonly marks: readonly { readonly atMs: number; readonly label: string }[];
}

/** The ranges to choose from, in seconds. */
export const RANGES: Readonly<Record<string, number>> = { "15m": 900, "1h": 3600, "6h": 21_600, "24h": 86_400 };
export const DEFAULT_RANGE = "1h";

const UNITS: Readonly<Record<string, string>> = {
  requests_per_second: "rps",
  latency_p95_ms: "ms",
  latency_p99_ms: "ms",
  error_ratio: "ratio",
  cpu_millicores: "m",
  memory_bytes: "bytes",
};

/** The charts of all signals, each with the marks of its component. */
export function signalCharts({ start, step_seconds: step, series, marks }: Signals): readonly SignalChart[] {
  const startMs = Date.parse(start);
  return series.map(({ component, signal, values, target, target_kind: targetKind }) => ({
    component,
    signal,
    unit: UNITS[signal] ?? "",
    points: values.map((value, index) => ({ atMs: startMs + index * step * 1000, value })),
    target,
    targetKind,
    marks: marks
      .filter((mark) => mark.component === component)
      .map(({ at, dimension, from, to }) => ({ atMs: Date.parse(at), label: `${dimension} ${from ?? "?"} → ${to}` })),
  }));
}

/** The newest measured value; the last steps may not be measured yet. */
export function newestValue(points: SignalChart["points"]): number | undefined {
  return points.findLast(({ value }) => value !== null)?.value ?? undefined;
}
