import { omitUndefined } from "@oaas/contracts/rest";
import { splitClassKey, type ClusterName, type DeploymentKey, type NfrRecommendation } from "@oaas/models";
import type { CandidateCluster, ReplicaRecommendation } from "../planner/plan-types.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import type { RuntimeQuery, UnitReport } from "../ports.ts";
import type { RuntimeView } from "./runtime-view.ts";

/**
 * Whether a report matches a query. `isEnvironmentChecked`: the cluster has applied the environment filter; otherwise the
 * namespace and the name of the cluster are compared.
 */
export function matchesQuery(
  { runtime, condition }: UnitReport,
  query: RuntimeQuery,
  isEnvironmentChecked = false,
): boolean {
  const { packageName, classKey, environment } = query;
  return (
    (packageName === undefined || runtime.packageName === packageName) &&
    (classKey === undefined ||
      runtime.classKey === classKey ||
      splitClassKey(runtime.classKey)?.classKey === classKey) &&
    (query.condition === undefined || condition === query.condition) &&
    (environment === undefined ||
      isEnvironmentChecked ||
      runtime.targetEnvironment === environment ||
      runtime.cluster === environment)
  );
}

/** The unit whose recommendations to read. */
interface RecommendationQuery {
  readonly key: DeploymentKey;
  readonly cluster: ClusterName;
  readonly namespace?: string | undefined;
  readonly nowMs: number;
}

/** Replicas per function that a cluster recommends for a deployment; undefined while the cluster is not followed. */
export function recommendedReplicas(
  view: RuntimeView,
  { key, cluster, namespace, nowMs }: RecommendationQuery,
): CandidateCluster["recommendedReplicas"] {
  if (view.syncState(cluster) === "unknown") return undefined;
  const { recommendations = [] } = view.get(cluster, unitIdOf(key, cluster), namespace)?.report.runtime.status ?? {};
  const replicas = recommendations.filter(({ dimension, target }) => dimension === "replicas" && target >= 0);
  if (replicas.length === 0) return undefined;
  return Object.fromEntries(replicas.map((one) => [one.component, replicaRecommendation(one, nowMs)]));
}

/** A recommendation without a valid expiry is outdated: its age is unknown. */
function replicaRecommendation(one: NfrRecommendation, nowMs: number): ReplicaRecommendation {
  const { target, validUntil, basis, confidence, evidence } = one;
  return omitUndefined({
    replicas: Math.ceil(target),
    rpsPerReplica: evidence?.values["rps_per_replica"],
    demandRps: evidence?.values["requests_per_second"],
    isMinimum: evidence && evidence.floor === "min_scale",
    isOutdated: !(Date.parse(validUntil ?? "") > nowMs),
    validUntil,
    basis,
    confidence,
  });
}
