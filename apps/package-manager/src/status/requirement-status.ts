import { omitUndefined } from "@oaas/contracts/rest";
import {
  MeasurementState,
  type ClusterDeploymentStatus,
  type ClusterMeasurement,
  type NfrMeasurement,
  type RequirementStatus,
  type StatedRequirement,
} from "@oaas/models";
import { useSummary } from "../planner/explanation/requirements.ts";

/** Requirements that class runtime managers can measure. */
const MEASURABLE: ReadonlySet<string> = new Set(["availability", "min_throughput_rps", "max_latency_ms"]);

/** A unit of the deployment and why its cluster does not measure, if it says so. */
export type MeasuringCluster = Pick<ClusterDeploymentStatus, "cluster" | "reachable" | "nfrCompliance"> & {
  readonly notObserved?: string;
};

/** Whether a stated requirement is measured, by which clusters, with which result, and why not. */
export function requirementStatus(stated: StatedRequirement, clusters: readonly MeasuringCluster[]): RequirementStatus {
  const measurements = MEASURABLE.has(stated.requirement)
    ? clusters.flatMap((cluster) => measurementsIn(stated, cluster))
    : clusters.map(({ cluster }) => ({ cluster, component: "", reason: "no measurement exists for it" }));
  const state = stateOf(measurements);
  return { ...stated, state, measurements, summary: summaryOf(stated, state, measurements) };
}

function measurementsIn(stated: StatedRequirement, cluster: MeasuringCluster): readonly ClusterMeasurement[] {
  const { nfrCompliance } = cluster;
  const found = (nfrCompliance?.measurements ?? []).filter(
    ({ requirement, component }) =>
      requirement === stated.requirement && (stated.component === "" || stated.component === component),
  );
  if (!cluster.reachable) return [{ cluster: cluster.cluster, component: "", reason: "the cluster is unreachable" }];
  if (found.length === 0) return [{ cluster: cluster.cluster, component: "", reason: missingReason(cluster) }];
  return found.map((one) => measurementOf(one, cluster));
}

function missingReason({ notObserved, nfrCompliance }: MeasuringCluster): string {
  if (notObserved !== undefined) return notObserved;
  return nfrCompliance === undefined
    ? "the cluster has reported no measurements yet; it measures only with Prometheus (OPRC_CRM_PROM_URL)"
    : "the cluster does not measure it yet";
}

function measurementOf(one: NfrMeasurement, { cluster, nfrCompliance }: MeasuringCluster): ClusterMeasurement {
  const isMeasured = one.observed !== undefined && one.status !== "unknown";
  return omitUndefined({
    cluster,
    component: one.component,
    status: isMeasured ? one.status : undefined,
    observed: isMeasured ? one.observed : undefined,
    unit: isMeasured ? one.unit : undefined,
    window: isMeasured ? one.window : undefined,
    checkedAt: isMeasured ? nfrCompliance?.lastChecked : undefined,
    reason: isMeasured ? undefined : (one.reason ?? "too few samples"),
  });
}

function stateOf(measurements: readonly ClusterMeasurement[]): MeasurementState {
  const measured = measurements.filter(({ observed }) => observed !== undefined).length;
  if (measured === 0) return MeasurementState.notMeasured;
  return measured === measurements.length ? MeasurementState.measured : MeasurementState.partlyMeasured;
}

/** Reasons and results that a summary lists; the measurements have all of them. */
const MAX_LISTED = 3;

function summaryOf(
  stated: StatedRequirement,
  state: MeasurementState,
  measurements: readonly ClusterMeasurement[],
): string {
  const of = stated.component === "" ? "" : ` of ${stated.component}`;
  const head = `${stated.text}${of}: ${useSummary(stated)}`;
  const violated = measurements.filter(({ status }) => status === "violated").length;
  const measured = measurements.filter(({ observed }) => observed !== undefined).length;
  const result = violated === 0 ? "met" : `violated in ${violated} of ${measured}`;
  switch (state) {
    case MeasurementState.measured:
      return `${head}, measured: ${result}`;
    case MeasurementState.partlyMeasured:
      return `${head}, measured in part: ${result}; not measured: ${reasonsText(measurements)}`;
    case MeasurementState.notMeasured:
      return `${head}, not measured: ${reasonsText(measurements)}`;
  }
}

/** Each reason once, with its clusters. */
function reasonsText(measurements: readonly ClusterMeasurement[]): string {
  const clustersOf = new Map<string, Set<string>>();
  for (const { cluster, reason } of measurements) {
    if (reason !== undefined) clustersOf.set(reason, (clustersOf.get(reason) ?? new Set()).add(cluster));
  }
  const texts = [...clustersOf].map(([reason, clusters]) => `${reason} (${[...clusters].join(", ")})`);
  const more = texts.length - MAX_LISTED;
  return [...texts.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join("; ") || "no cluster runs it";
}
