import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "./colours.ts";
import { percentText } from "./table.ts";

type Status = Reply<"getDeploymentStatus">["value"];
type Planned = NonNullable<Status["planned_availability"]>;

/** The bound that clusters set on a plan, why, and the domain that limits it unless the reason names it. */
export function clusterFailuresText(planned: Planned): string {
  const { cluster_bound, domain_availability = cluster_bound, limiting_clusters, limiting_domain, message } = planned;
  const isNamed = limiting_clusters.length > 0 && domain_availability >= cluster_bound;
  return [
    `at most ${percentText(cluster_bound)}`,
    message,
    ...(domain_availability < cluster_bound ? [`${percentText(domain_availability)} with zones and nodes`] : []),
    ...(limiting_domain === undefined || isNamed ? [] : [`limited most by ${limiting_domain}`]),
  ].join("; ");
}

export function warningLines({ warning }: Planned, colours: Colours): string[] {
  return warning === null ? [] : [`${colours.warn("warning:")} ${warning}`];
}

/** The planned availability of a deployment, and what is left of it while clusters are down. */
export function availabilityLines(
  {
    achieved_quorum_availability: independent,
    planned_availability: planned,
    present_availability: present,
  }: Pick<Status, "achieved_quorum_availability" | "planned_availability" | "present_availability">,
  colours: Colours,
): string[] {
  const line = `availability: planned ${percentText(planned?.independent_replicas ?? independent)}`;
  if (planned === null) return [line];
  return [
    `${line} if replicas fail independently; target ${percentText(planned.target)}`,
    `cluster failures: ${clusterFailuresText(planned)}`,
    ...warningLines(planned, colours),
    ...(present === null
      ? []
      : [`${colours.warn("now:")} at most ${percentText(present.cluster_bound)}; ${present.message}`]),
  ];
}
