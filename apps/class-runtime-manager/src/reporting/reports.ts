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
  const samples = replicaSamples(status, nowMs);
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
