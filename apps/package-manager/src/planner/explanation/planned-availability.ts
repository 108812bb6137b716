import type { ClusterName, PlannedAvailability, PresentAvailability } from "@oaas/models";
import type { Placement, PlacementTask } from "../placement/placement.ts";
import { ownEntry, type DeploymentPlan } from "../plan-types.ts";
import {
  clusterBound,
  countReplicas,
  neededReplicas,
  singlePointsOfFailure,
  withClustersDown,
  worstReplicas,
  type ClusterReplicas,
} from "../sizing/cluster-failures.ts";
import { HIGHEST_TARGET, meets } from "../sizing/quorum.ts";
import { formatShare, pluralize } from "./format.ts";

/** The availability of a placement: with independent replicas, and with replicas that fail with their cluster. */
export function plannedAvailability(
  { input, basis: { target, algorithm } }: PlacementTask,
  { placed, replicas, achieved }: Placement,
  hasState: boolean,
): PlannedAvailability {
  const held = heldReplicas(placed, replicas, hasState);
  const needed = neededReplicas(replicas, algorithm);
  const bound = clusterBound(held, needed);
  const limitingClusters = singlePointsOfFailure(held, needed);
  const isTargetStated = (input.whatIf?.availability ?? input.deployment.nfr.availability) !== undefined;
  const message = failuresText(placed, { replicas, hasState, limitingClusters });
  return {
    target,
    isTargetStated,
    independentReplicas: achieved,
    clusterBound: bound,
    replicas: Object.fromEntries(placed.map(({ cluster, replicas: count }) => [cluster, count])),
    limitingClusters,
    meetsTarget: meets(achieved, target) && meets(bound, target),
    message,
    ...(isTargetStated && !meets(bound, target) ? { warning: missedText(target, bound, message) } : {}),
  };
}

/**
 * The replicas that count: of a class with state, those of the object in the worst clusters; a stateless class can use
 * the replicas of every cluster.
 */
function heldReplicas(
  placed: readonly ClusterReplicas[],
  replicas: number,
  hasState: boolean,
): readonly ClusterReplicas[] {
  return hasState ? worstReplicas(placed, replicas) : placed;
}

/** Why a stated target is missed when clusters fail as a whole. */
export function missedText(target: number, bound: number, failures: string): string {
  return (
    `the target of ${formatShare(Math.min(target, HIGHEST_TARGET))} is missed when a cluster fails as a whole: ` +
    `at most ${formatShare(bound)}, because ${failures}. Spread the replicas over more clusters, or lower the target.`
  );
}

interface FailureContext {
  readonly replicas: number;
  readonly hasState: boolean;
  readonly limitingClusters: readonly ClusterName[];
}

/** Which replicas fail together. */
export function failuresText(placed: readonly ClusterReplicas[], context: FailureContext): string {
  const { replicas, hasState, limitingClusters } = context;
  const [first, ...others] = placed;
  if (first === undefined) return "there is no replica";
  if (others.length === 0) {
    return first.replicas === 1
      ? `the only replica is in ${first.cluster} and fails with it`
      : `all ${first.replicas} replicas are in ${first.cluster} and fail together with it`;
  }
  const shared = placed.filter((each) => each.replicas > 1);
  const alone =
    limitingClusters.length === 0 ? "" : `; too few are left without ${limitingClusters.join(" or without ")}`;
  if (shared.length > 0) {
    const counts = shared.map((each) => `${pluralize(each.replicas, "replica")} in ${each.cluster}`);
    return `replicas in one cluster fail together (${counts.join(", ")})${alone}`;
  }
  if (countReplicas(placed) === replicas) return `every replica is in its own cluster${alone}`;
  return hasState
    ? `each object has ${pluralize(replicas, "replica")} in ${placed.length} clusters, at worst in ${limitingClusters.join(", ")}`
    : `each of the ${placed.length} clusters has a replica`;
}

type AvailabilityOfPlan = Pick<DeploymentPlan, "availability" | "clusters" | "sizing" | "replicas" | "odgm">;

/** The availability that is left of a plan while clusters are down; undefined when all its clusters are up. */
export function presentAvailability(
  plan: AvailabilityOfPlan,
  down: ReadonlySet<string>,
): PresentAvailability | undefined {
  const { availability, clusters, sizing, replicas, odgm } = plan;
  if (availability === undefined) return undefined;
  const placed = clusters.flatMap(({ cluster, availability: share = 0 }): ClusterReplicas[] => {
    const count = ownEntry(availability.replicas, cluster) ?? 0;
    return count === 0 ? [] : [{ cluster, availability: share, replicas: count }];
  });
  const clustersDown = placed.map(({ cluster }) => cluster).filter((cluster) => down.has(cluster));
  if (clustersDown.length === 0) return undefined;
  const left = heldReplicas(withClustersDown(placed, down), replicas, odgm !== undefined);
  const bound = clusterBound(left, neededReplicas(replicas, sizing.algorithm));
  const missing = clustersDown.join(" and ");
  return {
    clustersDown,
    clusterBound: bound,
    message:
      bound === 0 ? `without ${missing}, too few replicas are left` : `without ${missing}, enough replicas are left`,
  };
}
