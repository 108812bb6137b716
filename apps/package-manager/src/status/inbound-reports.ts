import type {
  ReportOrigin,
  ReportRuntimeMetricsRequest,
  ReportStatusRequest,
  RuntimeMetricSample,
} from "@oaas/contracts/grpc";
import { invalidArgument, notFound } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import type { RuntimeView } from "./runtime-view.ts";

export interface InboundReportsOptions {
  readonly view: RuntimeView;
  readonly isCluster: (name: ClusterName) => boolean;
  /** Converts a summary as the CRM gateway does. */
  readonly readSummary: (
    cluster: ClusterName,
    summary: NonNullable<NonNullable<ReportStatusRequest["status"]>["classRuntime"]>,
  ) => UnitReport;
  /** Units to remember. Default 20,000. */
  readonly maxUnits?: number;
}

/** The last report of a unit. */
interface ReportedUnit {
  last: { readonly epoch: string; readonly sequence: bigint } | undefined;
  /** Time of the latest sample, by component and metric. */
  readonly sampledAtMs: Map<string, number>;
}

/** Metrics to remember per unit. */
const MAX_METRICS = 256;

/**
 * Applies the reports that clusters push to the same view as watched and polled state.
 *
 * *Guarantees*: a repeated or late report has no effect; reports of unknown clusters are rejected; memory is bounded.
 */
export class InboundReports {
  readonly #options: InboundReportsOptions;
  readonly #units = new Map<string, ReportedUnit>();

  constructor(options: InboundReportsOptions) {
    this.#options = options;
  }

  /** Applies the status of a unit. Returns false if the same or a newer status is known. */
  status({ deploymentId, status, origin }: ReportStatusRequest): boolean {
    const cluster = this.#clusterOf(origin, deploymentId);
    const { view, readSummary } = this.#options;
    const summary = status?.classRuntime;
    if (summary === undefined) {
      throw invalidReport("$.status.class_runtime", "is missing", "send the complete class runtime");
    }
    const report = readSummary(cluster, summary);
    if (report.unitId !== deploymentId) {
      throw invalidReport("$.status.class_runtime", "does not match deployment_id", "send one report per unit");
    }
    return isNewer(this.#unit(cluster, deploymentId), origin) && view.applyReport(cluster, report);
  }

  /** Acknowledges metrics. Returns the number of samples that are newer than the known ones. */
  metrics({ deploymentId, samples, origin }: ReportRuntimeMetricsRequest): number {
    const cluster = this.#clusterOf(origin, deploymentId);
    const { sampledAtMs } = this.#unit(cluster, deploymentId);
    return samples.filter((sample) => recordSample(sampledAtMs, sample)).length;
  }

  #clusterOf(origin: ReportOrigin | undefined, deploymentId: string): ClusterName {
    if (origin === undefined || origin.cluster === "") {
      throw invalidReport("$.origin.cluster", "is missing", "set the name of the reporting cluster");
    }
    if (deploymentId === "") throw invalidReport("$.deployment_id", "is missing", "set the id of the unit");
    const cluster = origin.cluster as ClusterName;
    if (!this.#options.isCluster(cluster)) throw notFound("cluster", cluster);
    return cluster;
  }

  #unit(cluster: ClusterName, unitId: string): ReportedUnit {
    const name = `${cluster}/${unitId}`;
    const unit = this.#units.get(name) ?? { last: undefined, sampledAtMs: new Map<string, number>() };
    this.#units.delete(name);
    this.#units.set(name, unit);
    const [oldest] = this.#units.keys();
    if (this.#units.size > (this.#options.maxUnits ?? 20_000) && oldest !== undefined) this.#units.delete(oldest);
    return unit;
  }
}

/** A restarted reporter starts a new epoch; within one epoch, sequences increase. */
function isNewer(unit: ReportedUnit, origin: ReportOrigin | undefined): boolean {
  if (origin === undefined || origin.epoch === "") return true;
  if (unit.last?.epoch === origin.epoch && origin.sequence <= unit.last.sequence) return false;
  unit.last = { epoch: origin.epoch, sequence: origin.sequence };
  return true;
}

function recordSample(sampledAtMs: Map<string, number>, sample: RuntimeMetricSample): boolean {
  const { component, metric, value, observedAt } = sample;
  const name = `${component}\u0000${metric}`;
  const atMs = Number(observedAt?.seconds ?? 0n) * 1000 + (observedAt?.nanos ?? 0) / 1_000_000;
  const knownMs = sampledAtMs.get(name);
  const isFull = knownMs === undefined && sampledAtMs.size >= MAX_METRICS;
  if (isFull || !Number.isFinite(value) || (knownMs !== undefined && knownMs >= atMs)) return false;
  sampledAtMs.set(name, atMs);
  return true;
}

function invalidReport(path: string, message: string, fix: string): Error {
  return invalidArgument("the report", [{ path, message, fix }]);
}
