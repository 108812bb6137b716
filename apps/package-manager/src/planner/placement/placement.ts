import type { ClusterName } from "@oaas/models";
import { compareNames, verdict, type Candidate, type Candidates } from "./candidates.ts";
import {
  ownEntry,
  type ClusterVerdict,
  type DeploymentPlan,
  type PlanInput,
  type Reason,
  type SizingBasis,
} from "../plan-types.ts";
import { availabilityByDomains, sizeByDomains, type DomainSizing } from "./domain-placement.ts";
import { independentAvailability, worstReplicas, type ClusterReplicas } from "../sizing/cluster-failures.ts";
import { meets } from "../sizing/quorum.ts";
import {
  allowsReplicaCount,
  CLASS_SUBJECT,
  sizeReplicas,
  type Demand,
  type Sizing,
  type SizingRules,
} from "../sizing/replicas.ts";
import { byPrice } from "../price/price-order.ts";
import { pluralize, formatShare } from "../explanation/format.ts";

/** The chosen clusters and the number of replicas. */
export interface Placement {
  readonly sizing: Sizing;
  /** Best first; extra nodes are assigned in this order. */
  readonly chosen: readonly Candidate[];
  readonly replicas: number;
  readonly bestEffort: boolean;
  /** Replicas by subject of the demand. */
  readonly counts: ReadonlyMap<string, number>;
  /** Data grid nodes per chosen cluster. */
  readonly nodes: ReadonlyMap<ClusterName, number>;
  /** The nodes of each chosen cluster; more than `replicas` if more clusters are named. */
  readonly placed: readonly ClusterReplicas[];
  /** The availability by the algorithm of the plan. */
  readonly achieved: number;
  /** Why the running placement was kept although a new calculation gives another one. */
  readonly kept?: string;
  readonly verdicts: readonly ClusterVerdict[];
}

/** The inputs of a placement. */
export interface PlacementTask {
  readonly input: PlanInput;
  readonly candidates: Candidates;
  /** The class first, then the functions that state a target. */
  readonly demands: readonly [Demand, ...Demand[]];
  readonly basis: SizingBasis;
  /** Whether the class has objects, of which copies are placed. */
  readonly hasState: boolean;
  /** Node ids that the user fixed, by cluster. */
  readonly fixedNodes: Readonly<Record<string, readonly number[]>>;
  /** How objects are copied. */
  readonly copies: CopyRules;
}

/** How the objects of a class are copied. */
export interface CopyRules {
  /** The stated shard type does not replicate: one copy, on one node of one cluster. */
  readonly isSingle: boolean;
  /** Any copy serves and the copies are merged: the shard type is `mst`. */
  readonly isMerged: boolean;
}

/** A placement, or the closest sizing that misses a target. */
export type PlacementOutcome =
  | { readonly ok: true; readonly value: Placement }
  | { readonly ok: false; readonly error: Sizing };

/** Chooses clusters and replica counts. Keeps the running placement unless another one gains more than the margin. */
export function placeReplicas(task: PlacementTask): PlacementOutcome {
  const { input, candidates } = task;
  const worstFirst = worstCandidatesFirst(candidates);
  if (task.basis.algorithm === "domains") return placeByDomains(task, worstFirst);
  const sizing = sizeReplicas(worstFirst.map(availabilityIn), sizingRules(task));
  const keeping = keepRunningPlacement(task, worstFirst, sizing);
  if (keeping !== undefined) return { ok: true, value: placementOf(task, keeping) };
  if (!sizing.reached && (!input.deployment.allowBestEffort || sizing.sizes.includes(undefined))) {
    return { ok: false, error: sizing };
  }
  const pool = worstFirst.slice(sizing.excluded).toSorted(byStickyRank(input));
  const spread = Math.max(...sizing.sizes.map((size) => size?.replicas ?? 0));
  const chosen = candidates.mode === "named" ? pool : pool.slice(0, spread);
  return { ok: true, value: placementOf(task, { sizing, chosen, pool }) };
}

/** Chooses clusters and counts by failure domains. */
function placeByDomains(task: PlacementTask, worstFirst: readonly Candidate[]): PlacementOutcome {
  const { sizing, chosen } = searchByDomains(task, worstFirst);
  const keeping = keepRunningPlacement(task, worstFirst, sizing);
  if (keeping !== undefined) return { ok: true, value: placementOf(task, keeping) };
  if (!sizing.reached && (!task.input.deployment.allowBestEffort || sizing.sizes.includes(undefined))) {
    return { ok: false, error: sizing };
  }
  return { ok: true, value: placementOf(task, { sizing, chosen, pool: worstFirst }) };
}

/** Searches the placement on these clusters that meets all demands by failure domains. */
export function searchByDomains(
  task: PlacementTask,
  usable: readonly Candidate[],
  changed: {
    readonly demands?: PlacementTask["demands"];
    readonly maxReplicas?: number;
    readonly usesAll?: boolean;
  } = {},
): DomainSizing {
  const { input, candidates, fixedNodes } = task;
  return sizeByDomains({
    bestFirst: usable.toSorted(byStickyRank(input)),
    demands: changed.demands ?? task.demands,
    maxReplicas: changed.maxReplicas ?? input.settings.maxReplicas,
    usesAll: changed.usesAll ?? candidates.mode === "named",
    hasState: task.hasState,
    place: (clusters, replicas, { subject }) =>
      nodesWithAvailability(
        clusters,
        nodesPerCluster(clusters, replicas, subject === CLASS_SUBJECT ? fixedNodes : {}),
        input.settings,
      ),
    availabilityIn,
    zoneOf: ({ cluster }) => zoneOf(cluster),
  });
}

/** The usable clusters by rising availability, then by name. */
export function worstCandidatesFirst({ all }: Candidates): Candidate[] {
  return all.filter(({ usable }) => usable).sort((a, b) => availabilityIn(a) - availabilityIn(b) || byName(a, b));
}

/** The availabilities of the usable clusters, worst first. */
export function availabilitiesOf({ candidates }: PlacementTask): number[] {
  return worstCandidatesFirst(candidates).map(availabilityIn);
}

export function sizingRules({ input, candidates, demands }: PlacementTask): SizingRules {
  const { maxReplicas, algorithm } = input.settings;
  return { demands, maxReplicas, algorithm, canExclude: candidates.mode !== "named" };
}

/** Chosen clusters and sizes. */
export interface Choice {
  readonly sizing: Sizing;
  readonly chosen: readonly Candidate[];
  /** Clusters that were considered. */
  readonly pool: readonly Candidate[];
  readonly kept?: { readonly why: string; readonly replicas: number };
  /** Data grid nodes per chosen cluster; absent: as few as the replicas need. */
  readonly nodes?: ReadonlyMap<ClusterName, number>;
  /** Why all other clusters are left out; absent: each for its own reason. */
  readonly othersAgainst?: Reason;
}

export function placementOf(task: PlacementTask, choice: Choice): Placement {
  const { sizing, chosen, kept } = choice;
  const counts = new Map(
    task.demands.map(({ subject }, index) => [subject, sizing.sizes[index]?.replicas ?? 0] as const),
  );
  const [{ subject }] = task.demands;
  const replicas = kept?.replicas ?? counts.get(subject) ?? 0;
  counts.set(subject, replicas);
  const nodes = choice.nodes ?? nodesPerCluster(chosen, replicas, task.fixedNodes);
  const placed = nodesWithAvailability(chosen, nodes, task.input.settings);
  return {
    sizing,
    chosen,
    replicas,
    bestEffort: kept === undefined && !sizing.reached,
    counts,
    nodes,
    placed,
    achieved: achievedAvailability(task, placed, replicas),
    ...(kept === undefined ? {} : { kept: kept.why }),
    verdicts: verdictsOf(task, choice, replicas),
  };
}

/**
 * One node per cluster, and more if there are fewer clusters than replicas. Extra nodes go to the best clusters first,
 * so the achieved availability is never below the calculation, which assumes the worst clusters first.
 */
export function nodesPerCluster(
  bestFirst: readonly Candidate[],
  replicas: number,
  given: PlacementTask["fixedNodes"],
): ReadonlyMap<ClusterName, number> {
  const names = bestFirst.map(({ cluster }) => cluster.name);
  const fixed = (name: ClusterName): number => ownEntry(given, name)?.length ?? 0;
  const free = names.filter((name) => fixed(name) === 0);
  const left = Math.max(0, replicas - names.reduce((sum, name) => sum + fixed(name), 0));
  const share = Math.floor(left / Math.max(1, free.length));
  const extra = left - share * free.length;
  return new Map(
    names.map((name) => {
      const index = free.indexOf(name);
      return [name, index < 0 ? fixed(name) : Math.max(1, share + (index < extra ? 1 : 0))];
    }),
  );
}

/** The availability of placed replicas by the algorithm of the plan. */
function achievedAvailability(
  { basis, hasState }: PlacementTask,
  placed: readonly ClusterReplicas[],
  replicas: number,
): number {
  return basis.algorithm === "domains"
    ? availabilityByDomains(placed, replicas, hasState)
    : independentAvailability(worstReplicas(placed, replicas), basis.algorithm);
}

/** The best availability of at most one replica in each chosen cluster, by the algorithm of the plan. */
export function availabilityOfOneEach(task: PlacementTask, { chosen }: Placement): number {
  const one = new Map(chosen.map(({ cluster }) => [cluster.name, 1]));
  const placed = nodesWithAvailability(chosen, one, task.input.settings);
  const ofFunction = { ...task, hasState: false };
  return Math.max(
    0,
    ...placed.map((_, index) => achievedAvailability(ofFunction, worstReplicas(placed, index + 1), index + 1)),
  );
}

/** The zone of a cluster by its labels; its region is part of the name, because zone names repeat in regions. */
export function zoneOf({ labels, reading }: Candidate["cluster"]): string | undefined {
  // What the registration states takes precedence over what the cluster reports.
  const stated = { ...reading?.offer?.labels, ...labels };
  const zone = ownEntry(stated, "zone") ?? ownEntry(stated, "topology.kubernetes.io/zone");
  const region = ownEntry(stated, "region") ?? ownEntry(stated, "topology.kubernetes.io/region");
  return zone === undefined || region === undefined ? zone : `${region}/${zone}`;
}

/** The nodes of each chosen cluster, with its availability and its failure domains. */
function nodesWithAvailability(
  chosen: readonly Candidate[],
  nodes: ReadonlyMap<ClusterName, number>,
  { zoneAvailability }: PlanInput["settings"],
): readonly ClusterReplicas[] {
  return chosen.map((candidate) => {
    const zone = zoneOf(candidate.cluster);
    const nodeShare = candidate.estimate?.nodeAvailability;
    return {
      cluster: candidate.cluster.name,
      availability: availabilityIn(candidate),
      replicas: nodes.get(candidate.cluster.name) ?? 0,
      ...(zone === undefined ? {} : { zone: { name: zone, availability: zoneAvailability } }),
      ...(nodeShare === undefined ? {} : { nodes: { count: nodeCount(candidate), availability: nodeShare } }),
    };
  });
}

/** The nodes that can run replicas now. */
function nodeCount({ cluster: { reading } }: Candidate): number {
  return Math.max(1, reading?.readyNodes ?? reading?.nodeCount ?? 1);
}

/** The replicas of a function with its own target, spread over the clusters of the class. */
export function functionReplicas(
  { input }: PlacementTask,
  { chosen }: Placement,
  replicas: number,
): readonly ClusterReplicas[] {
  return nodesWithAvailability(chosen, nodesPerCluster(chosen, replicas, {}), input.settings);
}

/** The running placement, if it can stay: same basis, clusters usable, target met, and a move gains too little. */
function keepRunningPlacement(task: PlacementTask, usable: readonly Candidate[], fresh: Sizing): Choice | undefined {
  const { input, candidates, demands, basis } = task;
  const { previous, settings } = input;
  if (previous === undefined || previous.bestEffort || !sameBasis(previous.sizing, basis)) return undefined;
  const running = runningIn(previous);
  const chosen = usable.filter(({ cluster }) => running.has(cluster.name)).sort(byStickyRank(input));
  if (chosen.length !== running.size || (candidates.mode === "named" && chosen.length !== usable.length)) {
    return undefined;
  }
  const { replicas } = previous;
  const [demand, ...others] = demands;
  if (!allowsReplicaCount(demand, replicas) || replicas > settings.maxReplicas) return undefined;
  const nodes = nodesPerCluster(chosen, replicas, task.fixedNodes);
  const achieved = achievedAvailability(task, nodesWithAvailability(chosen, nodes, settings), replicas);
  if (!meets(achieved, demand.target)) return undefined;

  const why = reasonToKeep(task, fresh, { replicas, achieved });
  if (why === undefined) return undefined;
  if (settings.algorithm === "domains") {
    const { sizing } = searchByDomains(task, chosen, {
      demands: [{ ...demand, atLeast: replicas }, ...others],
      usesAll: true,
    });
    if (!sizing.reached) return undefined;
    return { sizing, chosen, pool: usable, kept: { why, replicas } };
  }
  const here = sizeReplicas(
    chosen.map(availabilityIn).sort((a, b) => a - b),
    {
      ...sizingRules(task),
      demands: others,
      canExclude: false,
    },
  );
  if (others.length > 0 && !here.reached) return undefined;
  const kept = { demand, replicas, availability: achieved, reached: true };
  const sizing = { ...here, sizes: [kept, ...here.sizes], reached: true };
  return { sizing, chosen, pool: usable, kept: { why, replicas } };
}

function reasonToKeep(
  { demands: [demand], input }: PlacementTask,
  fresh: Sizing,
  running: { readonly replicas: number; readonly achieved: number },
): string | undefined {
  const [size] = fresh.sizes;
  const stillMet = `the running placement still reaches ${formatShare(running.achieved)}`;
  if (size === undefined || !size.reached) return stillMet;
  if (size.replicas > running.replicas) return `${stillMet} with fewer than ${size.replicas} replicas`;
  if (size.replicas === running.replicas) return undefined;
  const spare = (size.availability - demand.target) / (1 - demand.target);
  if (spare > input.settings.hysteresisMargin) return undefined;
  return (
    `${pluralize(size.replicas, "replica")} would reach ${formatShare(size.availability)}, but with less than ` +
    `${formatShare(input.settings.hysteresisMargin)} of the allowed downtime to spare, so the next reading could reverse it`
  );
}

function sameBasis(a: SizingBasis, b: SizingBasis): boolean {
  return a.target === b.target && a.algorithm === b.algorithm && a.strong === b.strong && a.atLeast === b.atLeast;
}

function runningIn(previous: DeploymentPlan | undefined): ReadonlySet<ClusterName> {
  return new Set(previous?.units.map(({ cluster }) => cluster));
}

/** Best first. A cluster that already runs the deployment is preferred by the margin; equal ones are ranked by price. */
export function byStickyRank({ previous, settings, clusters }: PlanInput): (a: Candidate, b: Candidate) => number {
  const cheaper = byPrice(clusters);
  const running = runningIn(previous);
  const runs = ({ cluster }: Candidate): number => (running.has(cluster.name) ? 1 : 0);
  const downtime = (candidate: Candidate): number =>
    (1 - availabilityIn(candidate)) * (1 - runs(candidate) * settings.hysteresisMargin);
  return (a, b) => downtime(a) - downtime(b) || runs(b) - runs(a) || cheaper(a.cluster, b.cluster) || byName(a, b);
}

function verdictsOf({ input, candidates, demands }: PlacementTask, choice: Choice, replicas: number): ClusterVerdict[] {
  const running = runningIn(input.previous);
  const chosen = new Set(choice.chosen);
  const pool = new Set(choice.pool);
  const named = candidates.mode === "named";
  return candidates.all.map((candidate) => {
    if (!candidate.usable && !chosen.has(candidate)) return verdict(candidate, false);
    if (chosen.has(candidate)) {
      const reason = running.has(candidate.cluster.name) ? INCUMBENT : amongBest(choice.chosen.length);
      return named ? verdict(candidate, true) : verdict(candidate, true, { for: reason });
    }
    if (choice.othersAgainst !== undefined) return verdict(candidate, false, { against: choice.othersAgainst });
    const against = pool.has(candidate)
      ? {
          code: "not-needed",
          text: `${pluralize(replicas, "replica")} in other clusters ${replicas === 1 ? "is" : "are"} enough`,
        }
      : { code: "left-out", text: `with it, ${formatShare(demands[0].target)} would be out of reach` };
    return verdict(candidate, false, { against });
  });
}

const INCUMBENT: Reason = { code: "incumbent", text: "already runs the deployment, and moving would gain too little" };

function amongBest(count: number): Reason {
  return {
    code: "best",
    text: count === 1 ? "the most available cluster" : `among the ${count} most available clusters`,
  };
}

export function availabilityIn({ availability }: Candidate): number {
  return availability ?? 0;
}

function byName(a: Candidate, b: Candidate): number {
  return compareNames(a.cluster.name, b.cluster.name);
}
