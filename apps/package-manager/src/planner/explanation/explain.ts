import type { ClusterVerdict, DeploymentPlan } from "../plan-types.ts";
import { pluralize, formatShare } from "./format.ts";

/** A plan for people: what would be done, what speaks for and against each cluster, and why everything is as it is. */
export function planText(plan: DeploymentPlan): string {
  const { shared, sizing, units, replicas, achievedAvailability } = plan;
  const effort = plan.bestEffort ? ", accepted as the best there is" : "";
  return [
    `${shared.deploymentKey}: class ${shared.packageName}.${shared.classKey} (revision ${shared.packageRevision} of the package), ` +
      `${pluralize(replicas, "replica")} over ${pluralize(units.length, "cluster")}.`,
    `Availability by ${sizing.algorithm}: ${formatShare(achievedAvailability)} for a target of ${formatShare(sizing.target)}${effort}.`,
    "Clusters:",
    ...plan.clusters.map(clusterLine),
    "Decisions:",
    ...plan.decisions.flatMap(({ rule, outcome, wouldChange }, index) => [
      `  ${index + 1}. ${rule}`,
      `     so: ${outcome}`,
      ...(wouldChange === undefined ? [] : [`     changed by: ${wouldChange}`]),
    ]),
  ].join("\n");
}

function clusterLine({ cluster, chosen, reasonsFor, reasonsAgainst }: ClusterVerdict): string {
  const words = [...reasonsFor.map(({ text }) => `+ ${text}`), ...reasonsAgainst.map(({ text }) => `- ${text}`)].join(
    "; ",
  );
  return `  [${chosen ? "x" : " "}] ${cluster}: ${words}`;
}
