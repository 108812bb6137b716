import type { PlannedAvailability, PresentAvailability } from "@oaas/models";
import type { Placement, PlacementTask } from "../placement/placement.ts";
import { ownEntry, type DeploymentPlan, type PlannedOdgm } from "../plan-types.ts";
import type { FailureDomain } from "../sizing/failure-domains.ts";
import {
  independentAvailability,
  withClustersDown,
  worstReplicas,
  type ClusterReplicas,
} from "../sizing/cluster-failures.ts";
import { copySetsOf, limitingClusters, worstBound, worstByDomains, type CopySet } from "../sizing/object-copies.ts";
import { HIGHEST_TARGET, meets } from "../sizing/quorum.ts";
import { formatShare, pluralize, truncateShare } from "./format.ts";

/** The availability of a placement: with independent replicas, and with replicas that fail with their cluster. */
export function plannedAvailability(
  { input, basis: { target, algorithm } }: PlacementTask,
  { placed, replicas }: Placement,
  odgm: PlannedOdgm | undefined,
): PlannedAvailability {
  const sets = copySetsOf(placed, odgm, algorithm);
  const bound = worstBound(sets);
  const domains = worstByDomains(sets);
  const independent = independentAvailability(worstReplicas(placed, replicas), algorithm);
  const isTargetStated = (input.whatIf?.availability ?? input.deployment.nfr.availability) !== undefined;
  const message = failuresText(sets);
  return {
    target,
    isTargetStated,
    independentReplicas: independent,
    clusterBound: bound,
    domainAvailability: domains.availability,
    ...(domains.limiting === undefined ? {} : { limitingDomain: domainText(domains.limiting) }),
    replicas: Object.fromEntries(placed.map(({ cluster, replicas }) => [cluster, replicas])),
    limitingClusters: limitingClusters(sets),
    meetsTarget: (algorithm === "domains" || meets(independent, target)) && meets(domains.availability, target),
    message,
    ...(isTargetStated ? missedWarning(target, bound, domains, message) : {}),
  };
}

function missedWarning(
  target: number,
  bound: number,
  { availability, limiting }: ReturnType<typeof worstByDomains>,
  message: string,
): { readonly warning?: string } {
  if (!meets(bound, target)) return { warning: missedText(target, bound, message) };
  if (meets(availability, target)) return {};
  return {
    warning:
      `the target of ${formatShare(Math.min(target, HIGHEST_TARGET))} is missed by failure domains: ` +
      `${formatShare(availability)}${limiting === undefined ? "" : `, limited by ${domainText(limiting)}`}. ` +
      "Use clusters in more zones, or lower the target.",
  };
}

function domainText({ kind, name, availability }: FailureDomain): string {
  const subject = kind === "node" ? `the ${name}` : `${kind} ${name}`;
  return `${subject} (up ${truncateShare(availability, 6)} of the time)`;
}

/** Why a stated target is missed when clusters fail as a whole. */
export function missedText(target: number, bound: number, failures: string): string {
  return (
    `the target of ${formatShare(Math.min(target, HIGHEST_TARGET))} is missed when a cluster fails as a whole: ` +
    `at most ${formatShare(bound)}, because ${failures}. Spread the replicas over more clusters, or lower the target.`
  );
}

/** Which replicas fail together, for the worst placed objects. */
export function failuresText(sets: readonly CopySet[]): string {
  const [worst, ...others] = sets.toSorted((a, b) => worstBound([a]) - worstBound([b]));
  const [first, ...more] = worst?.placed ?? [];
  if (worst === undefined || first === undefined) return "the plan has no replicas";
  const clusters = new Set(sets.flatMap(({ placed }) => placed.map(({ cluster }) => cluster)));
  const some = others.length === 0 ? "" : ` (${pluralize(worst.partitions, "partition")}; others are elsewhere)`;
  if (more.length === 0) {
    return first.replicas === 1
      ? `${clusters.size === 1 ? "the only replica is" : "objects with one copy are"} in ${first.cluster} and fail${clusters.size === 1 ? "s" : ""} with it${some}`
      : `all ${first.replicas} replicas are in ${first.cluster} and fail together with it${some}`;
  }
  if (worst.needed === 1)
    return `one of ${worst.placed
      .map(({ cluster }) => cluster)
      .sort()
      .join(", ")} is enough`;
  const shared = worst.placed.filter(({ replicas }) => replicas > 1);
  const limiting = limitingClusters([worst]);
  const alone = limiting.length === 0 ? "" : `; too few are left without ${limiting.join(" or without ")}`;
  if (shared.length === 0) return `every replica is in its own cluster${alone}`;
  const counts = shared.map(({ cluster, replicas }) => `${pluralize(replicas, "replica")} in ${cluster}`);
  return `replicas in one cluster fail together (${counts.join(", ")})${alone}`;
}

type AvailabilityOfPlan = Pick<DeploymentPlan, "availability" | "clusters" | "sizing" | "odgm">;

/** The placements of the objects of a plan, with the clusters in `down` down; none for a plan of an earlier release. */
export function copySetsOfPlan(plan: AvailabilityOfPlan, down: ReadonlySet<string>): readonly CopySet[] {
  const { availability, clusters, sizing, odgm } = plan;
  const placed = clusters.flatMap(({ cluster, availability: share = 0, estimate }): ClusterReplicas[] => {
    const replicas = ownEntry(availability?.replicas, cluster) ?? 0;
    if (replicas === 0) return [];
    const nodes = estimate?.nodeAvailability;
    const onNodes = nodes === undefined ? {} : { nodes: { count: replicas, availability: nodes } };
    return [{ cluster, availability: share, replicas, ...onNodes }];
  });
  return placed.length === 0 ? [] : copySetsOf(withClustersDown(placed, down), odgm, sizing.algorithm);
}

/** The availability that is left of a plan while clusters are down; undefined when all its clusters are up. */
export function presentAvailability(
  plan: AvailabilityOfPlan,
  down: ReadonlySet<string>,
): PresentAvailability | undefined {
  const sets = copySetsOfPlan(plan, down);
  const clustersDown = plan.clusters.flatMap(({ cluster }) =>
    down.has(cluster) && ownEntry(plan.availability?.replicas, cluster) !== undefined ? [cluster] : [],
  );
  if (clustersDown.length === 0) return undefined;
  const bound = worstBound(sets);
  const missing = clustersDown.join(" and ");
  return {
    clustersDown,
    clusterBound: bound,
    message:
      bound === 0 ? `without ${missing}, too few replicas are left` : `without ${missing}, enough replicas are left`,
  };
}
