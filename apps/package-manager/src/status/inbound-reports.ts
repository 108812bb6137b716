import { toBinary } from "@bufbuild/protobuf";
import {
  ClassRuntimeSummarySchema,
  type ReportOrigin,
  type ReportRuntimeMetricsRequest,
  type ReportStatusRequest,
  type RuntimeMetricSample,
} from "@oaas/contracts/grpc";
import { invalidArgument, notFound, timestamp } from "@oaas/foundation";
import { FUNCTION_KEY, type ClusterName, type ReportedMetric, type UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import type { RuntimeView } from "./runtime-view.ts";

export interface InboundReportsOptions {
  readonly view: RuntimeView;
  readonly isCluster: (name: ClusterName) => boolean;
  /** Whether a deployment has this unit in this cluster; a status report names its deployment. */
  readonly isUnit: (cluster: ClusterName, unitId: UnitId, deploymentKey: string | undefined) => boolean;
  /** Converts a summary as the CRM gateway does. */
  readonly readSummary: (
    cluster: ClusterName,
    summary: NonNullable<NonNullable<ReportStatusRequest["status"]>["classRuntime"]>,
  ) => UnitReport;
  /** Units to remember. Default 20,000. */
  readonly maxUnits?: number;
  /** Bytes of the names of metrics to remember. Default 16 MiB. */
  readonly maxBytes?: number;
}

/** The last report of a unit. */
interface ReportedUnit {
  last: { readonly epoch: string; readonly sequence: bigint } | undefined;
  /** The latest sample, by component and metric. */
  readonly samples: Map<string, Sample>;
}

interface Sample {
  readonly component: string;
  readonly metric: string;
  readonly value: number;
  readonly atMs: number;
  readonly windowSeconds: number;
}

/** Metrics to remember per unit. */
const MAX_METRICS = 256;
const MAX_UNITS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** The limits of one report. A unit has at most 128 functions with six metrics each. */
const MAX_SAMPLES = 1024;
const MAX_STATUS_BYTES = 512 * 1024;
const MAX_EPOCH = 128;

const METRICS: ReadonlySet<string> = new Set([
  "rps",
  "p99_latency_ms",
  "cpu_mcores",
  "memory_working_set_bytes",
  "availability",
  "replicas",
]);

/**
 * Applies the reports that clusters push to the same view as watched and polled state.
 *
 * *Guarantees*: a repeated or late report has no effect; reports of unknown clusters and units are rejected; memory is bounded in units
 * and bytes.
 */
export class InboundReports {
  readonly #options: InboundReportsOptions;
  readonly #units = new Map<string, ReportedUnit>();
  #bytes = 0;

  constructor(options: InboundReportsOptions) {
    this.#options = options;
  }

  /** Bytes of the names of remembered metrics. */
  get rememberedBytes(): number {
    return this.#bytes;
  }

  /** Applies the status of a unit. Returns false if the same or a newer status is known. */
  status({ deploymentId, status, origin }: ReportStatusRequest): boolean {
    const cluster = this.#clusterOf(origin, deploymentId);
    const { view, readSummary } = this.#options;
    const summary = status?.classRuntime;
    const path = "$.status.class_runtime";
    if (summary === undefined) throw invalidReport(path, "is missing", "send the complete class runtime");
    const { byteLength } = toBinary(ClassRuntimeSummarySchema, summary);
    if (byteLength > MAX_STATUS_BYTES) {
      throw invalidReport(path, `has ${byteLength} bytes, above ${MAX_STATUS_BYTES}`, "shorten its messages");
    }
    const report = readSummary(cluster, summary);
    if (report.unitId !== deploymentId) {
      throw invalidReport(path, "does not match deployment_id", "send one report per unit");
    }
    const unit = this.#unit(cluster, report.unitId, report.deploymentKey);
    return isNewer(unit, origin) && view.applyReport(cluster, report);
  }

  /** Keeps the newest sample of each metric. Returns the number of samples that are newer than the known ones. */
  metrics({ deploymentId, samples, origin }: ReportRuntimeMetricsRequest): number {
    const cluster = this.#clusterOf(origin, deploymentId);
    if (samples.length > MAX_SAMPLES) {
      throw invalidReport("$.samples", `has ${samples.length} items, above ${MAX_SAMPLES}`, "send several reports");
    }
    const unit = this.#unit(cluster, deploymentId as UnitId, undefined);
    const before = unit.samples.size;
    const accepted = samples.filter((sample) => recordSample(unit.samples, sample)).length;
    if (unit.samples.size > before) this.#bytes += bytesOf([...unit.samples.keys()].slice(before));
    this.#forgetOldest();
    return accepted;
  }

  /** The newest sample of each metric of a unit, by component and metric. */
  metricsOf(cluster: ClusterName, unitId: UnitId): readonly ReportedMetric[] {
    const { samples } = this.#units.get(unitName(cluster, unitId)) ?? {};
    return [...(samples?.entries() ?? [])]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { component, metric, value, atMs, windowSeconds }]) => ({
        component,
        metric,
        value,
        observedAt: timestamp(atMs),
        windowSeconds,
      }));
  }

  #clusterOf(origin: ReportOrigin | undefined, deploymentId: string): ClusterName {
    if (origin === undefined || origin.cluster === "") {
      throw invalidReport("$.origin.cluster", "is missing", "set the name of the reporting cluster");
    }
    if (origin.epoch.length > MAX_EPOCH) {
      throw invalidReport("$.origin.epoch", `is longer than ${MAX_EPOCH} characters`, "use a UUID");
    }
    if (deploymentId === "") throw invalidReport("$.deployment_id", "is missing", "set the id of the unit");
    const cluster = origin.cluster as ClusterName;
    if (!this.#options.isCluster(cluster)) throw notFound("cluster", cluster);
    return cluster;
  }

  #unit(cluster: ClusterName, unitId: UnitId, deploymentKey: string | undefined): ReportedUnit {
    if (!this.#options.isUnit(cluster, unitId, deploymentKey)) throw notFound("unit", unitId);
    const name = unitName(cluster, unitId);
    const unit = this.#units.get(name) ?? { last: undefined, samples: new Map<string, Sample>() };
    this.#units.delete(name);
    this.#units.set(name, unit);
    this.#forgetOldest();
    return unit;
  }

  #forgetOldest(): void {
    const { maxUnits = MAX_UNITS, maxBytes = MAX_BYTES } = this.#options;
    for (const [name, { samples }] of this.#units) {
      if (this.#units.size <= maxUnits && this.#bytes <= maxBytes) return;
      this.#units.delete(name);
      this.#bytes -= bytesOf([...samples.keys()]);
    }
  }
}

function bytesOf(names: readonly string[]): number {
  return names.reduce((bytes, name) => bytes + name.length, 0);
}

/** A restarted reporter starts a new epoch; within one epoch, sequences increase. */
function isNewer(unit: ReportedUnit, origin: ReportOrigin | undefined): boolean {
  if (origin === undefined || origin.epoch === "") return true;
  if (unit.last?.epoch === origin.epoch && origin.sequence <= unit.last.sequence) return false;
  unit.last = { epoch: origin.epoch, sequence: origin.sequence };
  return true;
}

/** The largest time that a date can have. */
const MAX_TIME_MS = 8.64e15;

function recordSample(samples: Map<string, Sample>, sample: RuntimeMetricSample): boolean {
  const { component, metric, value, observedAt, windowSeconds } = sample;
  if (!METRICS.has(metric) || component.length > FUNCTION_KEY.maxLength || !Number.isFinite(value)) return false;
  const name = `${component}\u0000${metric}`;
  const atMs = Number(observedAt?.seconds ?? 0n) * 1000 + (observedAt?.nanos ?? 0) / 1_000_000;
  const known = samples.get(name);
  const isFull = known === undefined && samples.size >= MAX_METRICS;
  if (isFull || Math.abs(atMs) > MAX_TIME_MS || (known !== undefined && known.atMs >= atMs)) return false;
  samples.set(name, { component, metric, value, atMs, windowSeconds });
  return true;
}

function unitName(cluster: ClusterName, unitId: UnitId): string {
  return `${cluster}/${unitId}`;
}

function invalidReport(path: string, message: string, fix: string): Error {
  return invalidArgument("the report", [{ path, message, fix }]);
}
