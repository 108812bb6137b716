import type { ClusterName } from "@oaas/models";
import type { Candidate } from "../placement/candidates.ts";
import { networkOf } from "../placement/networks.ts";
import { demandsWithOneMore, leastStated } from "../placement/state-placement.ts";
import {
  availabilitiesOf,
  searchByDomains,
  sizingRules,
  worstCandidatesFirst,
  type PlacementTask,
} from "../placement/placement.ts";
import type { LowerTarget, Remedy } from "../plan-types.ts";
import { HIGHEST_TARGET } from "../sizing/quorum.ts";
import {
  sizeReplicas,
  subjectName,
  type Demand,
  type Size,
  type Sizing,
  type SizingRules,
} from "../sizing/replicas.ts";
import { formatShare, pluralize, truncateShare } from "../explanation/format.ts";

/** A higher PLANNER_MAX_REPLICAS is not suggested. */
const MAX_SUGGESTED_REPLICAS = 501;

/** Bisection steps over the interval from 0 to 1: enough for four digits. */
const BISECTION_STEPS = 14;

/** How many unusable clusters are tried, the best first. */
const MAX_RESTORED_CLUSTERS = 3;

/**
 * All changes that are each sufficient to reach the target, verified by sizing with them. Best effort comes last, because
 * it always helps.
 */
export function remediesFor(
  task: PlacementTask,
  sizing: Sizing,
  missed: { readonly demand: Demand; readonly best?: Size },
): Remedy[] {
  if (task.basis.algorithm === "domains") return domainRemedies(task, sizing, missed);
  const remedies = [
    lowerTargets(task, missed),
    lowerReplicaCount(task),
    excludeNamed(task),
    ...restoreClusters(task),
    addCluster(task),
    raiseCap(task),
    missed.best === undefined ? undefined : allowBestEffort(missed.best),
  ];
  return remedies.filter((remedy) => remedy !== undefined);
}

/** Availabilities of one more cluster that are suggested. */
const ADDED_AVAILABILITIES = [0.9, 0.95, 0.99, 0.995, 0.999, 0.9999];

/** By failure domains more replicas in the same clusters rarely help, so that another zone is suggested. */
function domainRemedies(task: PlacementTask, sizing: Sizing, { best }: { readonly best?: Size }): Remedy[] {
  if (best === undefined) return [];
  const targets = sizing.sizes.flatMap((size): LowerTarget[] =>
    size === undefined || size.reached
      ? []
      : [{ subject: subjectName(size.demand), availability: truncateShare(size.availability, 9) }],
  );
  const texts = targets.map(({ availability, subject }) => `${formatShare(availability)} for ${subject}`);
  const added = sufficientCluster(task);
  return [
    { kind: "lower-target", targets, text: `lower the target to at most ${texts.join(" and ")}` },
    ...(added === undefined
      ? []
      : [
          {
            kind: "add-cluster" as const,
            availability: added,
            text: `add a cluster in another zone ${inSameNetwork(task)}that is up ${formatShare(added)} of the time`,
          },
        ]),
    allowBestEffort(best),
  ];
}

/** Copies of an object are in clusters of one network. */
function inSameNetwork({ hasState }: PlacementTask): string {
  return hasState ? "of the same data plane network " : "";
}

/** The lowest suggested availability of one more cluster that is sufficient. The search is expensive, so it is bisected. */
function sufficientCluster(task: PlacementTask): number | undefined {
  const usable = worstCandidatesFirst(task.candidates);
  const demands = demandsWithOneMore(task);
  const helps = (index: number): boolean =>
    searchByDomains(task, [...usable, clusterInNewZone(ADDED_AVAILABILITIES[index] ?? 0)], { demands }).sizing.reached;
  let high = ADDED_AVAILABILITIES.length - 1;
  if (!helps(high)) return undefined;
  let low = -1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (helps(middle)) high = middle;
    else low = middle;
  }
  return ADDED_AVAILABILITIES[high];
}

/** A cluster that shares no failure domain with the others. */
function clusterInNewZone(availability: number): Candidate {
  const cluster = { name: "another cluster" as ClusterName, labels: {}, breaker: "closed" as const };
  return { cluster, availability, eligible: true, usable: true, reasonsFor: [], reasonsAgainst: [] };
}

/** Lowers every missed target together: lowering only one leaves the others out of reach. */
function lowerTargets(task: PlacementTask, missed: { readonly best?: Size }): Remedy | undefined {
  if (missed.best === undefined) return undefined;
  const { sizes } = resize(task, availabilitiesOf(task));
  const targets = sizes.flatMap((size): LowerTarget[] =>
    size === undefined || size.reached
      ? []
      : [{ subject: subjectName(size.demand), availability: truncateShare(size.availability, 9) }],
  );
  const text =
    targets.length === 1
      ? `lower the target to at most ${formatShare(missed.best.availability)}`
      : `lower the targets to at most ${targets.map(({ availability, subject }) => `${formatShare(availability)} for ${subject}`).join(" and ")}`;
  return { kind: "lower-target", targets, text };
}

function lowerReplicaCount(task: PlacementTask): Remedy | undefined {
  const [ofClass, ...others] = task.demands;
  if ((task.input.deployment.odgm?.replicaCount ?? 1) <= 1) return undefined;
  const atLeast = leastStated(task);
  const sizing = resize(task, availabilitiesOf(task), { demands: [{ ...ofClass, atLeast }, ...others] });
  const replicaCount = sizing.sizes[0]?.replicas;
  if (!sizing.reached || replicaCount === undefined) return undefined;
  return { kind: "lower-replica-count", replicaCount, text: `set odgm.replica_count to ${replicaCount}` };
}

/** For clusters that the user named: excluding the worst may be sufficient. */
function excludeNamed(task: PlacementTask): Remedy | undefined {
  if (task.candidates.mode !== "named") return undefined;
  const sizing = resize(task, availabilitiesOf(task), { canExclude: true });
  if (!sizing.reached) return undefined;
  const clusters = worstCandidatesFirst(task.candidates)
    .slice(0, sizing.excluded)
    .map(({ cluster }) => cluster.name);
  return { kind: "leave-out", clusters, text: `remove ${clusters.join(", ")} from target_clusters` };
}

function restoreClusters(task: PlacementTask): Remedy[] {
  const networks = new Set(worstCandidatesFirst(task.candidates).map(({ cluster }) => networkOf(cluster)));
  return task.candidates.all
    .filter(
      ({ eligible, usable, availability }) => eligible && !usable && availability !== undefined && availability > 0,
    )
    .filter(({ cluster }) => !task.hasState || networks.has(networkOf(cluster)))
    .sort((a, b) => (b.availability ?? 0) - (a.availability ?? 0))
    .slice(0, MAX_RESTORED_CLUSTERS)
    .filter(({ availability = 0 }) => isReachable(task, [...availabilitiesOf(task), availability]))
    .map(({ cluster, availability = 0 }) => ({
      kind: "restore-cluster",
      cluster: cluster.name,
      text: `restore cluster ${cluster.name} (up ${formatShare(availability)} of the time)`,
    }));
}

/** The lowest sufficient availability of one more cluster. Availability is monotonic here, so bisection finds it. */
function addCluster(task: PlacementTask): Remedy | undefined {
  const helps = (availability: number): boolean => isReachable(task, [...availabilitiesOf(task), availability]);
  // No cluster is always up.
  if (!helps(HIGHEST_TARGET)) return undefined;
  let low = 0;
  let high = HIGHEST_TARGET;
  for (let step = 0; step < BISECTION_STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (helps(middle)) high = middle;
    else low = middle;
  }
  const rounded = Math.min(HIGHEST_TARGET, truncateShare(high + 0.0001, 4));
  const availability = helps(rounded) ? rounded : HIGHEST_TARGET;
  return {
    kind: "add-cluster",
    availability,
    text: `add a cluster ${inSameNetwork(task)}that is up ${formatShare(availability)} of the time`,
  };
}

function raiseCap(task: PlacementTask): Remedy | undefined {
  if (task.input.settings.maxReplicas >= MAX_SUGGESTED_REPLICAS) return undefined;
  // Only for the closest choice of clusters: sizing every choice with so many replicas takes too long.
  const closest = availabilitiesOf(task).slice(resize(task, availabilitiesOf(task)).excluded);
  const sizing = resize(task, closest, { maxReplicas: MAX_SUGGESTED_REPLICAS, canExclude: false });
  if (!sizing.reached) return undefined;
  const maxReplicas = Math.max(...sizing.sizes.map((size) => size?.replicas ?? 0));
  return { kind: "raise-cap", maxReplicas, text: `raise PLANNER_MAX_REPLICAS to at least ${maxReplicas}` };
}

function allowBestEffort({ availability, replicas }: Size): Remedy {
  return {
    kind: "allow-best-effort",
    text: `set allow_best_effort: true to accept ${formatShare(availability)} with ${pluralize(replicas, "replica")}`,
  };
}

function isReachable(task: PlacementTask, clusters: readonly number[]): boolean {
  return resize(task, clusters, { demands: demandsWithOneMore(task) }).reached;
}

function resize(task: PlacementTask, clusters: readonly number[], changed: Partial<SizingRules> = {}) {
  return sizeReplicas(
    clusters.toSorted((a, b) => a - b),
    { ...sizingRules(task), ...changed },
  );
}
