import type { Series, Signal } from "@oaas/nfr";
import type { MeasuredComponent } from "../components/measured-component.ts";
import type { HistoryRange } from "./history-range.ts";

/** A requirement, or the amount that is requested of Kubernetes. */
export interface HistoryTarget {
  readonly kind: "at_least" | "at_most" | "requested";
  readonly value: number;
}

/** One signal of one component. */
export interface SignalHistory {
  readonly component: string;
  readonly signal: ShownSignal;
  /** One for each step of the range; NaN where nothing was measured. */
  readonly values: readonly number[];
  readonly target?: HistoryTarget | undefined;
}

/** The signals to query; failed requests become a ratio. */
export const READ_SIGNALS = [
  "requests_per_second",
  "latency_p95_ms",
  "latency_p99_ms",
  "errors_per_second",
  "cpu_millicores",
  "memory_bytes",
  "ready_replicas",
] as const satisfies readonly Signal[];

export type ReadSignal = (typeof READ_SIGNALS)[number];
type ShownSignal = Exclude<ReadSignal, "errors_per_second"> | "error_ratio";

/** The signals of a component that were measured or have a target. */
export function componentHistory(
  measured: MeasuredComponent,
  seriesOf: (signal: ReadSignal) => Series,
  range: HistoryRange,
): readonly SignalHistory[] {
  const { component } = measured;
  const valuesOf = (signal: ReadSignal): readonly number[] => alignSeries(seriesOf(signal), range);
  return READ_SIGNALS.map((read): SignalHistory => {
    const values = valuesOf(read);
    if (read !== "errors_per_second") return { component, signal: read, values, target: targetOf(measured, read) };
    const ratio = ratioOf(values, valuesOf("requests_per_second"));
    return { component, signal: "error_ratio", values: ratio, target: targetOf(measured, "error_ratio") };
  }).filter(({ values, target }) => target !== undefined || values.some((value) => !Number.isNaN(value)));
}

/** One value for each step; NaN in gaps. */
function alignSeries(series: Series, { startMs, endMs, stepMs }: HistoryRange): readonly number[] {
  const values = Array.from({ length: Math.round((endMs - startMs) / stepMs) + 1 }, () => Number.NaN);
  for (const { atMs, value } of series) {
    const at = Math.round((atMs - startMs) / stepMs);
    if (at >= 0 && at < values.length) values[at] = value;
  }
  return values;
}

/** The share of failed requests; NaN without requests. */
function ratioOf(errors: readonly number[], requests: readonly number[]): readonly number[] {
  return errors.map((failed, at) => failed / (requests[at] || Number.NaN));
}

function targetOf(
  { requirements, scale, container }: MeasuredComponent,
  signal: ShownSignal,
): HistoryTarget | undefined {
  const { minThroughputRps, maxLatencyMs, latencyPercentile = 99, availability, maxErrorRate } = requirements;
  const ofAll = (perReplica: number | undefined): number | undefined =>
    perReplica === undefined ? undefined : perReplica * scale.current;
  const allowedErrors = maxErrorRate ?? (availability === undefined ? undefined : 1 - availability);
  switch (signal) {
    case "requests_per_second":
      return target("at_least", minThroughputRps);
    case "latency_p95_ms":
      return target("at_most", latencyPercentile === 95 ? maxLatencyMs : undefined);
    case "latency_p99_ms":
      return target("at_most", latencyPercentile === 99 ? maxLatencyMs : undefined);
    case "error_ratio":
      return target("at_most", allowedErrors);
    case "cpu_millicores":
      return target("requested", ofAll(container.cpuRequest));
    case "memory_bytes":
      return target("requested", ofAll(container.memoryRequest));
    case "ready_replicas":
      return target("requested", scale.current);
  }
}

function target(kind: HistoryTarget["kind"], value: number | undefined): HistoryTarget | undefined {
  return value === undefined ? undefined : { kind, value };
}
