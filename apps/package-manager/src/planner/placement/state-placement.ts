import type { ClusterName } from "@oaas/models";
import { truncateShare } from "../explanation/format.ts";
import { clusterBound, neededReplicas, worstReplicas } from "../sizing/cluster-failures.ts";
import { meets } from "../sizing/quorum.ts";
import { byPrice } from "../price/price-order.ts";
import { ownEntry, type CandidateCluster, type LowerTarget, type Remedy } from "../plan-types.ts";
import { CLASS_SUBJECT, subjectName, type Demand, type Sizing } from "../sizing/replicas.ts";
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
  /** The demand that is missed the most. */
  readonly demand: Demand;
  /** Targets that one network reaches; empty if lowering them is not enough. */
  readonly lowerTargets: readonly LowerTarget[];
}

/** A placement with the task that it answers, or the closest sizing that misses a target. */
export type ClassPlacement = { readonly task: PlacementTask } & (
  | { readonly ok: true; readonly value: Placement }
  | {
      readonly ok: false;
      readonly error: Sizing;
      readonly unconnected?: UnconnectedClusters;
      /** The task with the clusters of all networks, if there are several. */
      readonly whole?: PlacementTask;
    }
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
  const { best, closest, connected } = compareNetworks(task, groups);
  if (best !== undefined) return best;
  if (task.input.deployment.allowBestEffort) {
    return closest.ok ? { ...closest, value: { ...closest.value, bestEffort: true } } : closest;
  }
  const refused = { ...asRefusal(closest), whole: task };
  if (connected === undefined || !isReached(connected)) return refused;
  return { ...refused, unconnected: describeUnconnected(task, groups, closest) };
}

interface ComparedNetworks {
  /** The best placement that is sufficient. */
  readonly best?: ReachedPlacement | undefined;
  /** The one that reaches the most. */
  readonly closest: ClassPlacement;
  /** The placement if all clusters were connected; absent for a single copy. */
  readonly connected?: ClassPlacement | undefined;
}

function compareNetworks(task: PlacementTask, groups: readonly (readonly Candidate[])[]): ComparedNetworks {
  const options = groups.map((group) => placeCopies(within(task, group)));
  const connected = task.copies.isSingle ? undefined : placeCopies(task);
  const sufficient = options.filter(isReached).filter((option) => !missesBound(option, connected));
  const closest = options.toSorted((a, b) => reachOf(b) - reachOf(a))[0] as ClassPlacement;
  return { best: sufficient.toSorted(byPreference)[0], closest, connected };
}

/** Whether the clusters of some network are sufficient. */
function isReachable(task: PlacementTask): boolean {
  return compareNetworks(task, clusterGroups(task)).best !== undefined;
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

/** The demands of a class with one more cluster: where the user names it, objects are on several nodes. */
export function demandsWithOneMore({ candidates, copies, demands, hasState }: PlacementTask): PlacementTask["demands"] {
  const [ofClass, ...others] = demands;
  if (!hasState || candidates.mode !== "named") return demands;
  if (copies.isSingle) return [{ ...ofClass, atLeast: 2, atMost: 1 }, ...others];
  return [{ ...ofClass, atLeast: Math.max(ofClass.atLeast, leastCopies(copies)) }, ...others];
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
  const [ofClass] = task.demands;
  const sizes = closest.ok ? closest.value.sizing.sizes : closest.error.sizes;
  // What the class reaches is limited by its clusters as a whole; its functions are sized alone.
  const reached = sizes.flatMap((size) => {
    if (size === undefined) return [];
    const availability = size.demand.subject === CLASS_SUBJECT ? reachOf(closest) : size.availability;
    return [{ ...size, availability: truncateShare(availability, 9) }];
  });
  const missed = reached.filter(({ demand, availability }) => !meets(availability, demand.target));
  const worst = missed.toSorted((a, b) => b.demand.target - b.availability - (a.demand.target - a.availability))[0];
  const targets = missed.map(({ demand, availability }) => ({ subject: subjectName(demand), availability }));
  const usable = closest.task.candidates.all.filter((candidate) => candidate.usable);
  return {
    apart: unconnectedClusters(task.candidates),
    clusters: groups.flatMap((group) => group.map(({ cluster }) => cluster.name)).toSorted(compareNames),
    demand: worst?.demand ?? ofClass,
    best: {
      availability: worst?.availability ?? 0,
      replicas: worst?.replicas ?? 0,
      clusters: (closest.ok ? closest.value.chosen : usable).map(({ cluster }) => cluster.name).toSorted(compareNames),
    },
    lowerTargets: isSufficientApart(task, { kind: "lower-target", targets, text: "" }) ? targets : [],
  };
}

/** The same task with another target of the class, which the user states. */
function withLowerTarget(task: PlacementTask, target: number): PlacementTask {
  const { input, basis } = task;
  const [ofClass, ...others] = task.demands;
  const { deployment } = input;
  return {
    ...task,
    input: { ...input, deployment: { ...deployment, nfr: { ...deployment.nfr, availability: target } } },
    demands: [{ ...ofClass, target }, ...others],
    basis: { ...basis, target },
  };
}

/**
 * Whether a change is sufficient where clusters are in several networks. Sizing within one network is not enough to know:
 * a stated target must be reached when clusters fail as a whole, if connected clusters would.
 */
export function isSufficientApart(task: PlacementTask, remedy: Remedy): boolean {
  switch (remedy.kind) {
    case "allow-best-effort":
      return true;
    case "raise-cap": {
      const settings = { ...task.input.settings, maxReplicas: remedy.maxReplicas };
      return isReachable({ ...task, input: { ...task.input, settings } });
    }
    case "lower-target": {
      const of = new Map(remedy.targets.map(({ subject, availability }) => [subject, availability]));
      const lowered = withLowerTarget(task, of.get("class") ?? task.basis.target);
      const [ofClass, ...others] = lowered.demands;
      const demands = others.map((each) => ({ ...each, target: of.get(each.subject) ?? each.target }));
      return isReachable({ ...lowered, demands: [ofClass, ...demands] });
    }
    case "add-cluster":
    case "restore-cluster":
    case "leave-out":
    case "lower-replica-count":
    case "connect-clusters":
      return false;
  }
}

/** Clusters of the candidates that cannot have copies of one object together, one of each network; empty if they can. */
export function unconnectedClusters({ all }: Candidates): readonly ClusterName[] {
  const groups = [...byNetwork(all.filter((candidate) => candidate.usable)).values()];
  return groups.length < 2 ? [] : groups.flatMap(([first]) => (first === undefined ? [] : [first.cluster.name]));
}
