import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { deploymentIdOf } from "../mapping/object-identity.ts";
import type { MetricsReport } from "./ports.ts";
import type { Report } from "./report-queue.ts";
import { wireTime } from "./status-report.ts";

type Sample = NonNullable<MetricsReport["samples"]>[number];

/** The metric behind each requirement that is measured. */
const METRIC_OF: ReadonlyMap<string, string> = new Map([
  ["min_throughput_rps", "rps"],
  ["max_latency_ms", "p99_latency_ms"],
  ["availability", "availability"],
]);

/** What is known in numbers about a class at this moment; undefined when nothing is. */
export function metricsReport(
  { object }: Report,
  origin: MetricsReport["origin"],
  nowMs: number,
): MetricsReport | undefined {
  const { status } = object;
  if (status === undefined) return undefined;
  const samples = [...replicaSamples(status, nowMs), ...measuredSamples(status, nowMs)];
  return samples.length === 0 ? undefined : { deploymentId: deploymentIdOf(object), samples, origin };
}

function replicaSamples({ functions = [], odgm_cluster_status: odgm }: ClassRuntimeStatus, nowMs: number): Sample[] {
  const of = (component: string, value: number | undefined): Sample[] =>
    value === undefined
      ? []
      : [{ component, metric: "replicas", value, observedAt: wireTime(nowMs), windowSeconds: 0 }];
  return [
    ...functions.flatMap(({ function_key: key, ready_replicas: ready }) => of(key, ready)),
    ...of("odgm", odgm?.ready_replicas),
  ];
}

/** Those that analysis found; dated by it, so that the same measurement told twice is known to be the same. */
function measuredSamples({ nfr_compliance: measured }: ClassRuntimeStatus, nowMs: number): Sample[] {
  const observedAt = wireTime(Date.parse(measured?.last_checked ?? "") || nowMs);
  return (measured?.measurements ?? []).flatMap(({ requirement, component = "", observed, window_seconds: window }) => {
    const metric = METRIC_OF.get(requirement);
    if (metric === undefined || observed === undefined) return [];
    return [{ component, metric, value: observed, observedAt, windowSeconds: window ?? 0 }];
  });
}
