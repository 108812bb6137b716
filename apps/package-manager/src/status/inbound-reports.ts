import type {
  ReportRuntimeMetricsRequest,
  ReportOrigin,
  ReportStatusRequest,
  RuntimeMetricSample,
} from "@oaas/contracts/grpc";
import { invalidArgument, notFound } from "@oaas/foundation";
import type { ClusterName, UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import type { RuntimeView } from "./runtime-view.ts";

/** The newest value of one measurement. */
export interface RuntimeMetric {
  readonly component: string;
  readonly metric: string;
  readonly value: number;
  readonly observedAtMs: number;
  readonly windowSeconds: number;
}

export interface InboundReportsOptions {
  readonly view: RuntimeView;
  readonly isCluster: (name: ClusterName) => boolean;
  /** Reads a summary as the gateway does. */
  readonly readSummary: (
    cluster: ClusterName,
    summary: NonNullable<NonNullable<ReportStatusRequest["status"]>["classRuntime"]>,
  ) => UnitReport;
  /** Units of which measurements are kept. Default 20,000. */
  readonly mostUnits?: number;
}

/** What is kept of a unit that reported. */
interface ReportedUnit {
  last: { readonly epoch: string; readonly sequence: bigint } | undefined;
  readonly metrics: Map<string, RuntimeMetric>;
}

/** Measurements of one unit that are kept. */
const MOST_METRICS = 256;

/**
 * Takes what clusters tell by themselves into the same view as what is read from them.
 *
 * *Guarantees*: a report that is repeated or late changes nothing; only known clusters are believed; bounded.
 */
export class InboundReports {
  readonly #options: InboundReportsOptions;
  readonly #units = new Map<string, ReportedUnit>();

  constructor(options: InboundReportsOptions) {
    this.#options = options;
  }

  /** A unit's state changed. False when that was known already. */
  status({ deploymentId, status, origin }: ReportStatusRequest): boolean {
    const cluster = this.#clusterOf(origin, deploymentId);
    const { view, readSummary } = this.#options;
    const summary = status?.classRuntime;
    if (summary === undefined) {
      throw refusal("$.status.class_runtime", "is missing", "send the whole state, or let it be read");
    }
    const report = readSummary(cluster, summary);
    if (report.unitId !== deploymentId) {
      throw refusal("$.status.class_runtime", "is about another deployment", "report each by itself");
    }
    return isNews(this.#unit(cluster, deploymentId), origin) && view.report(cluster, report);
  }

  /** What a cluster measured. Answers how many samples were newer than what was known. */
  metrics({ deploymentId, samples, origin }: ReportRuntimeMetricsRequest): number {
    const cluster = this.#clusterOf(origin, deploymentId);
    const { metrics } = this.#unit(cluster, deploymentId);
    return samples.filter((sample) => keep(metrics, sample)).length;
  }

  /** The newest measurements of a unit. */
  metricsOf(cluster: ClusterName, unitId: UnitId): readonly RuntimeMetric[] {
    return [...(this.#units.get(`${cluster}/${unitId}`)?.metrics.values() ?? [])];
  }

  #clusterOf(origin: ReportOrigin | undefined, deploymentId: string): ClusterName {
    if (origin === undefined || origin.cluster === "") {
      throw refusal("$.origin.cluster", "is missing", "say which cluster reports");
    }
    if (deploymentId === "") throw refusal("$.deployment_id", "is missing", "say which unit it is about");
    const cluster = origin.cluster as ClusterName;
    if (!this.#options.isCluster(cluster)) throw notFound("cluster", cluster);
    return cluster;
  }

  #unit(cluster: ClusterName, unitId: string): ReportedUnit {
    const name = `${cluster}/${unitId}`;
    const unit = this.#units.get(name) ?? { last: undefined, metrics: new Map<string, RuntimeMetric>() };
    this.#units.delete(name);
    this.#units.set(name, unit);
    const [oldest] = this.#units.keys();
    if (this.#units.size > (this.#options.mostUnits ?? 20_000) && oldest !== undefined) this.#units.delete(oldest);
    return unit;
  }
}

/** A reporter that restarted begins a new epoch; within one, only what is newer counts. */
function isNews(unit: ReportedUnit, origin: ReportOrigin | undefined): boolean {
  if (origin === undefined || origin.epoch === "") return true;
  if (unit.last?.epoch === origin.epoch && origin.sequence <= unit.last.sequence) return false;
  unit.last = { epoch: origin.epoch, sequence: origin.sequence };
  return true;
}

function keep(kept: Map<string, RuntimeMetric>, sample: RuntimeMetricSample): boolean {
  const { component, metric, value, windowSeconds } = sample;
  const name = `${component}\u0000${metric}`;
  const observedAtMs = Number(sample.observedAt?.seconds ?? 0n) * 1000 + (sample.observedAt?.nanos ?? 0) / 1_000_000;
  const known = kept.get(name);
  const isFull = known === undefined && kept.size >= MOST_METRICS;
  if (isFull || !Number.isFinite(value) || (known !== undefined && known.observedAtMs >= observedAtMs)) return false;
  kept.set(name, { component, metric, value, observedAtMs, windowSeconds });
  return true;
}

function refusal(path: string, message: string, fix: string): Error {
  return invalidArgument("the report", [{ path, message, fix }]);
}
