import type { PlannerAlgorithm } from "../plan-types.ts";
import { availabilityByCount, meets } from "./quorum.ts";

/** An availability target for a set of replicas. */
export interface Demand {
  /** The key of a function that states a target, or `CLASS_SUBJECT`. */
  readonly subject: string;
  readonly target: number;
  /** A majority must survive f ≥ 1 failures: 2f+1 replicas with f = max(1, ⌊n/2⌋), that is odd and at least 3. */
  readonly strong: boolean;
  /** The minimum that the user requested, or that several nodes need. */
  readonly atLeast: number;
  /** The highest count; absent: the cap. */
  readonly atMost?: number;
}

/** The subject of the demand of the whole class; never a valid function key. */
export const CLASS_SUBJECT = "";

/** The subject of a demand for messages. */
export function subjectName({ subject }: Demand): string {
  return subject === CLASS_SUBJECT ? "class" : subject;
}

/** A replica count and its availability. */
export interface Size {
  readonly demand: Demand;
  readonly replicas: number;
  readonly availability: number;
  readonly reached: boolean;
}

/** The sizes of all demands over the same clusters. */
export interface Sizing {
  /** The availabilities of the included clusters. */
  readonly worstFirst: readonly number[];
  /** How many of the worst clusters are excluded because a target is out of reach with them. */
  readonly excluded: number;
  /** In the order of the demands; undefined if no count within the cap is allowed. */
  readonly sizes: readonly (Size | undefined)[];
  /** Whether every demand is met. */
  readonly reached: boolean;
  /** The availability of 1, 2, … replicas on these clusters. */
  readonly curve: readonly number[];
}

/** The rules of a sizing. */
export interface SizingRules {
  readonly demands: readonly Demand[];
  readonly maxReplicas: number;
  readonly algorithm: PlannerAlgorithm;
  /** The planner selects the clusters and may exclude the worst of them. */
  readonly canExclude: boolean;
}

/** Whether a demand allows this replica count, regardless of its availability. */
export function allowsReplicaCount(demand: Demand, replicas: number): boolean {
  if (replicas < demand.atLeast || replicas > (demand.atMost ?? replicas)) return false;
  const survivable = Math.max(1, Math.floor(replicas / 2));
  return !demand.strong || replicas >= 2 * survivable + 1;
}

/**
 * The smallest count that meets each demand. Counts are calculated for the worst clusters first, so they hold for any
 * placement on these clusters.
 *
 * Starts with all clusters; if a target is out of reach and exclusion is allowed, excludes the worst clusters one by one.
 * If no choice meets all targets, returns the sizes with the smallest shortfall.
 */
export function sizeReplicas(worstFirst: readonly number[], rules: SizingRules): Sizing {
  const tries = rules.canExclude ? Math.max(1, worstFirst.length) : 1;
  let best: Sizing | undefined;
  for (let excluded = 0; excluded < tries; excluded += 1) {
    const sizing = sizeOver(worstFirst.slice(excluded), excluded, rules);
    if (sizing.reached) return sizing;
    if (best === undefined || largestShortfall(sizing, rules) < largestShortfall(best, rules)) best = sizing;
  }
  return best ?? sizeOver([], 0, rules);
}

function sizeOver(worstFirst: readonly number[], excluded: number, rules: SizingRules): Sizing {
  const curve = availabilityByCount(worstFirst, rules.maxReplicas, rules.algorithm);
  const sizes = rules.demands.map((demand) => sizeOf(curve, demand));
  return { worstFirst, excluded, sizes, curve, reached: sizes.every((size) => size?.reached === true) };
}

/** The smallest allowed count that meets the demand, else the closest one, the smaller of equals. */
function sizeOf(curve: readonly number[], demand: Demand): Size | undefined {
  let best: Size | undefined;
  for (const [index, availability] of curve.entries()) {
    const replicas = index + 1;
    if (!allowsReplicaCount(demand, replicas)) continue;
    const reached = meets(availability, demand.target);
    if (reached || best === undefined || availability > best.availability) {
      best = { demand, replicas, availability, reached };
    }
    if (reached) break;
  }
  return best;
}

/** The largest shortfall of all demands. */
function largestShortfall(sizing: Sizing, { demands }: SizingRules): number {
  return Math.max(...demands.map((demand, index) => shortfallOf(demand, sizing.sizes[index])));
}

function shortfallOf(demand: Demand, size: Size | undefined): number {
  if (size === undefined) return Number.POSITIVE_INFINITY;
  return size.reached ? 0 : demand.target - size.availability;
}

/** The demand with the largest shortfall, and the closest size. */
export function findLargestShortfall(
  sizing: Sizing,
  demands: readonly Demand[],
): { demand: Demand; best?: Size } | undefined {
  let worst: { demand: Demand; best?: Size } | undefined;
  let largest = 0;
  for (const [index, demand] of demands.entries()) {
    const best = sizing.sizes[index];
    const amount = shortfallOf(demand, best);
    if (amount <= largest) continue;
    largest = amount;
    worst = best === undefined ? { demand } : { demand, best };
  }
  return worst;
}
