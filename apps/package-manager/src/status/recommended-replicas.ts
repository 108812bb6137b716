import type { ClusterName, DeploymentKey } from "@oaas/models";
import { unitIdOf } from "../planner/unit-id.ts";
import type { RuntimeView } from "./runtime-view.ts";

/** Replicas per function that a cluster recommends for a deployment, from what it measured there; undefined while it has no say. */
export function recommendedReplicas(
  view: RuntimeView,
  key: DeploymentKey,
  cluster: ClusterName,
): Readonly<Record<string, number>> | undefined {
  if (view.syncState(cluster) === "unknown") return undefined;
  return view.get(cluster, unitIdOf(key, cluster))?.report.recommendedReplicas;
}
