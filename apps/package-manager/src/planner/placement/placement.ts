import type { ClusterName } from "@oaas/models";
import { compareNames, verdict, type Candidate, type Candidates } from "./candidates.ts";
import { ownEntry } from "../own-entry.ts";
import type { ClusterVerdict, DeploymentPlan, PlanInput, Reason, SizingBasis } from "../plan-types.ts";
import { availabilityOf, meets } from "../sizing/quorum.ts";
import { allowsReplicaCount, sizeReplicas, type Demand, type Sizing, type SizingRules } from "../sizing/replicas.ts";
import { pluralize, formatShare } from "../explanation/format.ts";

/** Where the replicas go and how many there are of what. */
export interface Placement {
  readonly sizing: Sizing;
  /** Best first, in the order in which extra nodes are handed out. */
  readonly chosen: readonly Candidate[];
  readonly replicas: number;
  readonly bestEffort: boolean;
  /** By subject of the demand. */
  readonly counts: ReadonlyMap<string, number>;
  /** Nodes of the data grid in each chosen cluster. */
  readonly nodes: ReadonlyMap<ClusterName, number>;
  readonly achieved: number;
  /** Why what runs was kept although the rule alone would say something else. */
  readonly kept?: string;
  readonly verdicts: readonly ClusterVerdict[];
}

/** What a placement is looked for under. */
export interface PlacementTask {
  readonly input: PlanInput;
  readonly candidates: Candidates;
  /** The class first, then functions with targets of their own. */
  readonly demands: readonly [Demand, ...Demand[]];
  readonly basis: SizingBasis;
  /** Ids of nodes that the user fixed, by cluster. */
  readonly givenNodes: Readonly<Record<string, readonly number[]>>;
}

/** A placement, or how near the best one comes. */
export type PlacementOutcome =
  | { readonly ok: true; readonly value: Placement }
  | { readonly ok: false; readonly error: Sizing };

/** Chooses clusters and counts. Keeps what runs unless another placement gains more than the margin. */
export function placeReplicas(task: PlacementTask): PlacementOutcome {
  const { input, candidates } = task;
  const worstFirst = worstCandidatesFirst(candidates);
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

/** The clusters that can be counted on; of equals by name. */
export function worstCandidatesFirst({ all }: Candidates): Candidate[] {
  return all.filter(({ usable }) => usable).sort((a, b) => availabilityIn(a) - availabilityIn(b) || byName(a, b));
}

/** The availabilities of the clusters that can be counted on, worst first. */
export function availabilitiesOf({ candidates }: PlacementTask): number[] {
  return worstCandidatesFirst(candidates).map(availabilityIn);
}

/** The rules by which the sizes of a task are found. */
export function sizingRules({ input, candidates, demands }: PlacementTask): SizingRules {
  const { maxReplicas, algorithm } = input.settings;
  return { demands, maxReplicas, algorithm, canExclude: candidates.mode !== "named" };
}

interface Choice {
  readonly sizing: Sizing;
  readonly chosen: readonly Candidate[];
  /** Clusters that could have been chosen. */
  readonly pool: readonly Candidate[];
  readonly kept?: { readonly why: string; readonly replicas: number };
}

function placementOf(task: PlacementTask, choice: Choice): Placement {
  const { sizing, chosen, kept } = choice;
  const { algorithm } = task.input.settings;
  const counts = new Map(
    task.demands.map(({ subject }, index) => [subject, sizing.sizes[index]?.replicas ?? 0] as const),
  );
  const [{ subject }] = task.demands;
  const replicas = kept?.replicas ?? counts.get(subject) ?? 0;
  counts.set(subject, replicas);
  const nodes = nodesPerCluster(chosen, replicas, task.givenNodes);
  return {
    sizing,
    chosen,
    replicas,
    bestEffort: kept === undefined && !sizing.reached,
    counts,
    nodes,
    achieved: availabilityOf(worstNodes(chosen, nodes, replicas), algorithm),
    ...(kept === undefined ? {} : { kept: kept.why }),
    verdicts: verdictsOf(task, choice, replicas),
  };
}

/**
 * One node in each cluster, and more where there are fewer clusters than replicas: by turns, the best clusters first, so
 * that what is reached is at least what was counted on, worst first.
 */
function nodesPerCluster(
  bestFirst: readonly Candidate[],
  replicas: number,
  given: PlacementTask["givenNodes"],
): ReadonlyMap<ClusterName, number> {
  const names = bestFirst.map(({ cluster }) => cluster.name);
  const fixed = (name: ClusterName): number => ownEntry(given, name)?.length ?? 0;
  const free = names.filter((name) => fixed(name) === 0);
  const left = Math.max(0, replicas - names.reduce((sum, name) => sum + fixed(name), 0));
  const share = Math.floor(left / Math.max(1, free.length));
  const extra = left - share * free.length;
  return new Map(
    names.map((name) => {
      const turn = free.indexOf(name);
      return [name, turn < 0 ? fixed(name) : Math.max(1, share + (turn < extra ? 1 : 0))];
    }),
  );
}

/** The nodes that could hold the copies of one partition at worst. */
function worstNodes(
  chosen: readonly Candidate[],
  nodes: ReadonlyMap<ClusterName, number>,
  replicas: number,
): readonly number[] {
  return chosen
    .flatMap((candidate) =>
      Array.from({ length: nodes.get(candidate.cluster.name) ?? 0 }, () => availabilityIn(candidate)),
    )
    .sort((a, b) => a - b)
    .slice(0, replicas);
}

/** What runs, if it may stay: same wish, clusters still usable, target still met, and a move would gain too little. */
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
  const nodes = nodesPerCluster(chosen, replicas, task.givenNodes);
  const achieved = availabilityOf(worstNodes(chosen, nodes, replicas), settings.algorithm);
  if (!meets(achieved, demand.target)) return undefined;

  const why = reasonToKeep(task, fresh, { replicas, achieved });
  if (why === undefined) return undefined;
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
  const meetsStill = `what runs still reaches ${formatShare(running.achieved)}`;
  if (size === undefined || !size.reached) return meetsStill;
  if (size.replicas > running.replicas) return `${meetsStill} with fewer than ${size.replicas}`;
  if (size.replicas === running.replicas) return undefined;
  const spare = (size.availability - demand.target) / (1 - demand.target);
  if (spare > input.settings.hysteresisMargin) return undefined;
  return (
    `${size.replicas} would do (${formatShare(size.availability)}), but so narrowly that the next reading may undo it: ` +
    `less than ${formatShare(input.settings.hysteresisMargin)} of the allowed downtime would be spare`
  );
}

function sameBasis(a: SizingBasis, b: SizingBasis): boolean {
  return a.target === b.target && a.algorithm === b.algorithm && a.strong === b.strong && a.atLeast === b.atLeast;
}

function runningIn(previous: DeploymentPlan | undefined): ReadonlySet<ClusterName> {
  return new Set(previous?.units.map(({ cluster }) => cluster));
}

/** Best first. Where the deployment runs already, a cluster counts as better by the margin. */
function byStickyRank({ previous, settings }: PlanInput): (a: Candidate, b: Candidate) => number {
  const running = runningIn(previous);
  const runs = ({ cluster }: Candidate): number => (running.has(cluster.name) ? 1 : 0);
  const downtime = (candidate: Candidate): number =>
    (1 - availabilityIn(candidate)) * (1 - runs(candidate) * settings.hysteresisMargin);
  return (a, b) => downtime(a) - downtime(b) || runs(b) - runs(a) || byName(a, b);
}

function verdictsOf({ input, candidates, demands }: PlacementTask, choice: Choice, replicas: number): ClusterVerdict[] {
  const running = runningIn(input.previous);
  const chosen = new Set(choice.chosen);
  const pool = new Set(choice.pool);
  const named = candidates.mode === "named";
  return candidates.all.map((candidate) => {
    if (!candidate.usable) return verdict(candidate, false);
    if (chosen.has(candidate)) {
      const reason = running.has(candidate.cluster.name) ? INCUMBENT : amongBest(choice.chosen.length);
      return named ? verdict(candidate, true) : verdict(candidate, true, { for: reason });
    }
    const against = pool.has(candidate)
      ? {
          code: "not-needed",
          text: `${pluralize(replicas, "replica")} elsewhere ${replicas === 1 ? "is" : "are"} enough`,
        }
      : { code: "left-out", text: `counting on it, ${formatShare(demands[0].target)} would be out of reach` };
    return verdict(candidate, false, { against });
  });
}

const INCUMBENT: Reason = { code: "incumbent", text: "the deployment runs there, and no move gains enough" };

function amongBest(count: number): Reason {
  return { code: "best", text: count === 1 ? "it is the best" : `it is among the best ${count}` };
}

function availabilityIn({ availability }: Candidate): number {
  return availability ?? 0;
}

function byName(a: Candidate, b: Candidate): number {
  return compareNames(a.cluster.name, b.cluster.name);
}
