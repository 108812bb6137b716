import type { Reply } from "@oaas/contracts/rest";
import { ageText } from "./table.ts";

type ClusterState = Reply<"getDeploymentStatus">["value"]["clusters"][number];

/** The corrections of all clusters, one line each; empty when there was none. */
export function driftText(clusters: readonly ClusterState[], now: number): string {
  const lines = clusters.flatMap(({ cluster, drift_corrections: all = [] }) =>
    all.map(({ last_at: at, message }) => `drift corrected in ${cluster} ${ageText(at, now)} ago: ${message}\n`),
  );
  return lines.length === 0 ? "" : `\n${lines.join("")}`;
}
