import type { ClusterName } from "@oaas/models";
import { truncateShare } from "../explanation/format.ts";
import { clusterBound, neededReplicas, worstReplicas } from "../sizing/cluster-failures.ts";
import { meets } from "../sizing/quorum.ts";
import { byPrice } from "../price/price-order.ts";
import { ownEntry, type CandidateCluster } from "../plan-types.ts";
import type { Sizing } from "../sizing/replicas.ts";
import { compareNames, type Candidate, type Candidates } from "./candidates.ts";
import { byNetwork, listText } from "./networks.ts";
import { placeReplicas, type CopyRules, type Placement, type PlacementTask } from "./placement.ts";

/** A target that clusters reach only together, although they share no data plane network. */
export interface UnconnectedClusters {
  /** All usable clusters. */
  readonly clusters: readonly ClusterName[];
  /** One cluster of each network. */
  readonly apart: readonly ClusterName[];
  /** The best that the clusters of one network reach when clusters fail as a whole. */
  readonly best: {
    readonly availability: number;
    readonly replicas: number;
    readonly clusters: readonly ClusterName[];
  };
  /** Whether lowering the target to that availability is enough. */
  readonly canLowerTarget: boolean;
}

/** A placement with the task that it answers, or the closest sizing that misses a target. */
export type ClassPlacement = { readonly task: PlacementTask } & (
  | { readonly ok: true; readonly value: Placement }
  | { readonly ok: false; readonly error: Sizing; readonly unconnected?: UnconnectedClusters }
);

type ReachedPlacement = ClassPlacement & { readonly ok: true };

/**
 * Places a class.
 *
 * *Guarantees*: all copies of its objects are in clusters of one data plane network, because nodes of different networks
 * never reach each other; one copy is on one node. A class without state may use clusters of several networks.
 */
export function placeClass(task: PlacementTask): ClassPlacement {
  if (!task.hasState) return { task, ...placeReplicas(task) };
  const groups = clusterGroups(task);
  if (groups.length <= 1) return placeCopies(task);
  const options = groups.map((group) => placeCopies(within(task, group)));
  const connected = task.copies.isSingle ? undefined : placeCopies(task);
  const sufficient = options.filter(isReached).filter((option) => !missesBound(option, connected));
  const best = sufficient.toSorted(byPreference)[0];
  if (best !== undefined) return best;
  const closest = options.toSorted((a, b) => reachOf(b) - reachOf(a))[0] as ClassPlacement;
  if (task.input.deployment.allowBestEffort) {
    return closest.ok ? { ...closest, value: { ...closest.value, bestEffort: true } } : closest;
  }
  if (connected === undefined || !isReached(connected)) return asRefusal(closest);
  return { ...asRefusal(closest), unconnected: describeUnconnected(task, groups, closest) };
}

/** The clusters that can have copies of one object together: those of a network, or of a single copy each alone. */
function clusterGroups({ candidates, copies }: PlacementTask): readonly (readonly Candidate[])[] {
  const usable = candidates.all.filter((candidate) => candidate.usable);
  return copies.isSingle ? usable.map((candidate) => [candidate]) : [...byNetwork(usable).values()];
}

/** The same task with the clusters of one group only. */
function within(task: PlacementTask, group: readonly Candidate[]): PlacementTask {
  const members = new Set(group);
  const names = listText(group.map(({ cluster }) => cluster.name));
  const against = task.copies.isSingle
    ? { code: "single-copy", text: `objects have one copy, which is in ${names}` }
    : { code: "other-network", text: `it shares no data plane network with ${names}` };
  const all = task.candidates.all.map((candidate) =>
    members.has(candidate) || !candidate.usable
      ? candidate
      : { ...candidate, usable: false, reasonsAgainst: [...candidate.reasonsAgainst, against] },
  );
  return { ...task, candidates: { ...task.candidates, all } satisfies Candidates };
}

/**
 * Places the copies of objects. Where functions or the user need several nodes, objects get several copies: one copy for
 * each would be spread over nodes that do not replicate, and any of them could lose its part.
 */
function placeCopies(given: PlacementTask): ClassPlacement {
  const [ofClass, ...others] = given.demands;
  if (given.copies.isSingle) {
    const task: PlacementTask = { ...given, demands: [{ ...ofClass, atMost: 1 }, ...others] };
    return { task, ...placeReplicas(task) };
  }
  const stated = withAtLeast(given, leastStated(given));
  const outcome = placeReplicas(stated);
  if (!outcome.ok || outcome.value.replicas > 1 || countNodes(outcome.value) === 1) return { task: stated, ...outcome };
  const spread = withAtLeast(given, leastCopies(given.copies));
  return { task: spread, ...placeReplicas(spread) };
}

function withAtLeast(task: PlacementTask, least: number): PlacementTask {
  const [ofClass, ...others] = task.demands;
  const atLeast = Math.max(ofClass.atLeast, least);
  return { ...task, demands: [{ ...ofClass, atLeast }, ...others], basis: { ...task.basis, atLeast } };
}

/** The fewest copies where the user names clusters or nodes: each of several clusters has nodes. */
export function leastStated({ candidates, copies, fixedNodes, hasState }: PlacementTask): number {
  if (!hasState || copies.isSingle) return 1;
  const usable = candidates.all.filter((candidate) => candidate.usable);
  const isSpread = candidates.mode === "named" && usable.length > 1;
  const hasNodes = usable.some(({ cluster }) => (ownEntry(fixedNodes, cluster.name)?.length ?? 0) > 1);
  return isSpread || hasNodes ? leastCopies(copies) : 1;
}

/** The fewest copies on several nodes of which one may restart: a majority of two is both. */
function leastCopies({ isMerged }: CopyRules): number {
  return isMerged ? 2 : 3;
}

function countNodes({ nodes }: Placement): number {
  return [...nodes.values()].reduce((sum, count) => sum + count, 0);
}

function isReached(placement: ClassPlacement): placement is ReachedPlacement {
  return placement.ok && !placement.value.bestEffort;
}

/** Whether a stated target is missed when clusters fail as a whole, and would be reached if all clusters were connected. */
function missesBound(option: ClassPlacement, connected: ClassPlacement | undefined): boolean {
  if (connected === undefined || !option.ok || !isReached(connected)) return false;
  const { input, basis } = option.task;
  const isStated = (input.whatIf?.availability ?? input.deployment.nfr.availability) !== undefined;
  return isStated && meets(boundOf(connected), basis.target) && !meets(boundOf(option), basis.target);
}

/** The availability that the clusters set when they fail as a whole. */
function boundOf({ task, value: { placed, replicas } }: ReachedPlacement): number {
  const needed = task.copies.isMerged ? 1 : neededReplicas(replicas, task.basis.algorithm);
  return clusterBound(worstReplicas(placed, replicas), needed);
}

/** What an option reaches, whether or not it is enough. */
function reachOf(option: ClassPlacement): number {
  if (option.ok) return Math.min(option.value.achieved, boundOf(option));
  return option.error.sizes[0]?.availability ?? 0;
}

/** Where it runs, then with the fewest copies, then the most available, then the cheapest. */
function byPreference(a: ReachedPlacement, b: ReachedPlacement): number {
  return (
    countRunning(b) - countRunning(a) ||
    a.value.replicas - b.value.replicas ||
    boundOf(b) - boundOf(a) ||
    b.value.achieved - a.value.achieved ||
    comparePrice(a, b) ||
    compareNames(firstCluster(a).name, firstCluster(b).name)
  );
}

function comparePrice(a: ReachedPlacement, b: ReachedPlacement): number {
  return byPrice(a.task.input.clusters)(firstCluster(a), firstCluster(b));
}

function firstCluster({ value: { chosen } }: ReachedPlacement): CandidateCluster {
  return (chosen[0] as Candidate).cluster;
}

function countRunning({ task, value: { chosen } }: ReachedPlacement): number {
  const running = new Set(task.input.previous?.units.map(({ cluster }) => cluster));
  return chosen.filter(({ cluster }) => running.has(cluster.name)).length;
}

function asRefusal(closest: ClassPlacement): ClassPlacement & { readonly ok: false } {
  return closest.ok ? { ok: false, task: closest.task, error: closest.value.sizing } : closest;
}

function describeUnconnected(
  task: PlacementTask,
  groups: readonly (readonly Candidate[])[],
  closest: ClassPlacement,
): UnconnectedClusters {
  const availability = truncateShare(reachOf(closest), 9);
  const [ofClass, ...others] = task.demands;
  const lowered = placeClass({
    ...task,
    demands: [{ ...ofClass, target: availability }, ...others],
    basis: { ...task.basis, target: availability },
  });
  const usable = closest.task.candidates.all.filter((candidate) => candidate.usable);
  return {
    apart: unconnectedClusters(task.candidates),
    clusters: groups.flatMap((group) => group.map(({ cluster }) => cluster.name)).toSorted(compareNames),
    best: {
      availability,
      replicas: closest.ok ? closest.value.replicas : (closest.error.sizes[0]?.replicas ?? 0),
      clusters: (closest.ok ? closest.value.chosen : usable).map(({ cluster }) => cluster.name).toSorted(compareNames),
    },
    canLowerTarget: lowered.ok && !lowered.value.bestEffort,
  };
}

/** Clusters of the candidates that cannot have copies of one object together, one of each network; empty if they can. */
export function unconnectedClusters({ all }: Candidates): readonly ClusterName[] {
  const groups = [...byNetwork(all.filter((candidate) => candidate.usable)).values()];
  return groups.length < 2 ? [] : groups.flatMap(([first]) => (first === undefined ? [] : [first.cluster.name]));
}
