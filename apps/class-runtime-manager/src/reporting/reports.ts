import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import {
  conditionWords,
  DeploymentCondition,
  type ReportRuntimeMetricsRequestSchema,
  type ReportStatusRequestSchema,
} from "@oaas/contracts/grpc";
import { equalJson } from "@oaas/foundation";
import type { ClassChange } from "../classes/ports.ts";
import { deploymentIdOf } from "../mapping/object-identity.ts";
import { classRuntimeToSummary, summaryText } from "../mapping/status/class-runtime-to-wire.ts";
import { windowSeconds } from "../mapping/status/nfr-compliance.ts";
import type { Report } from "./report-queue.ts";

export type StatusReport = MessageInitShape<typeof ReportStatusRequestSchema>;
export type MetricsReport = MessageInitShape<typeof ReportRuntimeMetricsRequestSchema>;

/** Receives the reports. Every call ends in bounded time and throws a fault when the report was not accepted. */
export interface ReportSink {
  status(report: StatusReport, correlationId: string | undefined, signal: AbortSignal): Promise<void>;
  metrics(report: MetricsReport, signal: AbortSignal): Promise<void>;
  /** Reconnects after failed calls: certificates may have been replaced. */
  reconnect(): void;
}

/** Whether a change must be reported: the status, the generation or the deletion changed. */
export function isReportable(change: ClassChange): boolean {
  if (change.type !== "updated") return change.type === "deleted" || change.object.status !== undefined;
  const { object, previous } = change;
  return (
    object.metadata.generation !== previous.metadata.generation ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp ||
    object.metadata.uid !== previous.metadata.uid ||
    !equalJson(object.status ?? {}, previous.status ?? {})
  );
}

/** Builds the status report of a class. */
export function statusReport(
  { object, isDeleted }: Report,
  origin: StatusReport["origin"],
  nowMs: number,
): StatusReport {
  const summary = classRuntimeToSummary(object);
  const { status } = summary;
  if (isDeleted && status) status.condition = DeploymentCondition.DELETED;
  const id = deploymentIdOf(object);
  const condition = conditionWords.fromWire(status?.condition ?? 0) ?? "unknown";
  const changedMs = isDeleted ? nowMs : Date.parse(summary.updatedAt) || nowMs;
  return {
    deploymentId: id,
    status: {
      deploymentId: id,
      status: condition.toUpperCase(),
      message: isDeleted ? "Deleted" : summaryText(object),
      updatedAt: wireTime(changedMs),
      classRuntime: summary,
    },
    origin,
  };
}

/** A protobuf timestamp. */
function wireTime(epochMs: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(epochMs / 1000);
  return { seconds: BigInt(seconds), nanos: Math.round((epochMs - seconds * 1000) * 1e6) };
}

type Sample = NonNullable<MetricsReport["samples"]>[number];

/** Builds the metrics report of a class; undefined when there are no samples. */
export function metricsReport(
  { object }: Report,
  origin: MetricsReport["origin"],
  nowMs: number,
): MetricsReport | undefined {
  const { status } = object;
  if (status === undefined) return undefined;
  const samples = [...replicaSamples(status, nowMs), ...loadSamples(status), ...availabilitySamples(status)];
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

/** The reported metric of each value that recommendations are computed from. */
const METRIC_OF_VALUE = {
  requests_per_second: "rps",
  latency_p99_ms: "p99_latency_ms",
  cpu_millicores: "cpu_mcores",
  p90_millicores: "cpu_mcores",
  p90_bytes: "memory_working_set_bytes",
} as const;

/** The measurements behind the recommendations; of several values of one metric, the first. */
function loadSamples({ nfr_recommendations: recommendations = [] }: ClassRuntimeStatus): Sample[] {
  const samples = recommendations.flatMap(({ component, evidence, observed_at: observedAt }) =>
    Object.entries(METRIC_OF_VALUE).flatMap(([name, metric]): Sample[] => {
      const value = evidence?.values[name];
      if (evidence === undefined || value === undefined) return [];
      return measuredSample({ component, metric, value, observedAt, window: evidence.window });
    }),
  );
  const first = new Map<string, Sample>();
  for (const sample of samples) {
    const name = `${sample.component} ${sample.metric}`;
    if (!first.has(name)) first.set(name, sample);
  }
  return [...first.values()];
}

function availabilitySamples({ nfr_compliance: compliance }: ClassRuntimeStatus): Sample[] {
  return (compliance?.measurements ?? []).flatMap(({ requirement, component = "", observed, window }) =>
    requirement === "availability" && observed !== undefined
      ? measuredSample({
          component,
          metric: "availability",
          value: observed,
          observedAt: compliance?.last_checked,
          window,
        })
      : [],
  );
}

/** Without a time, a value cannot be ordered among others. */
function measuredSample({
  component,
  metric,
  value,
  observedAt = "",
  window = "",
}: {
  readonly component: string;
  readonly metric: string;
  readonly value: number;
  readonly observedAt: string | undefined;
  readonly window: string | undefined;
}): Sample[] {
  const atMs = Date.parse(observedAt);
  if (Number.isNaN(atMs)) return [];
  return [{ component, metric, value, observedAt: wireTime(atMs), windowSeconds: windowSeconds(window) ?? 0 }];
}
