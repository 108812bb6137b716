import { splitClassKey, type ClusterName, type DeploymentKey } from "@oaas/models";
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

/** Replicas per function that a cluster recommends for a deployment; undefined while the cluster is not followed. */
export function recommendedReplicas(
  view: RuntimeView,
  key: DeploymentKey,
  cluster: ClusterName,
): Readonly<Record<string, number>> | undefined {
  if (view.syncState(cluster) === "unknown") return undefined;
  return view.get(cluster, unitIdOf(key, cluster))?.report.recommendedReplicas;
}
