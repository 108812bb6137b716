import type { PlannerAlgorithm } from "../plan-types.ts";
import { availabilityByCount, meets } from "./quorum.ts";

/** An availability that replicas must reach together. */
export interface Demand {
  /** The key of a function with a target of its own, or that of the class. */
  readonly subject: string;
  readonly target: number;
  /** A majority must survive f ≥ 1 failures: 2f+1 replicas with f = max(1, ⌊n/2⌋), that is odd and at least 3. */
  readonly strong: boolean;
  /** Fewer than these were ruled out by the user. */
  readonly atLeast: number;
}

/** The demand that the class as a whole makes; no function can be called so, since it is not a function's key. */
export const CLASS_SUBJECT = "";

/** Whose demand it is, in words. */
export function subjectName({ subject }: Demand): string {
  return subject === CLASS_SUBJECT ? "class" : subject;
}

/** A number of replicas, with what it reaches. */
export interface Size {
  readonly demand: Demand;
  readonly replicas: number;
  readonly availability: number;
  readonly reached: boolean;
}

/** Sizes for every demand over the same clusters. */
export interface Sizing {
  /** The availabilities of the clusters that are counted on. */
  readonly worstFirst: readonly number[];
  /** How many of the worst clusters are left out, because with them a target is out of reach. */
  readonly excluded: number;
  /** In the order of the demands; undefined where no count within the cap is allowed. */
  readonly sizes: readonly (Size | undefined)[];
  /** Every demand is met. */
  readonly reached: boolean;
  /** The availability of 1, 2, … replicas on these clusters. */
  readonly curve: readonly number[];
}

/** What sizes are found under. */
export interface SizingRules {
  readonly demands: readonly Demand[];
  readonly maxReplicas: number;
  readonly algorithm: PlannerAlgorithm;
  /** The planner chose the clusters and may do without the worst of them. */
  readonly canExclude: boolean;
}

/** Whether a demand allows this many replicas, whatever they reach. */
export function allowsReplicaCount(demand: Demand, replicas: number): boolean {
  if (replicas < demand.atLeast) return false;
  const survivable = Math.max(1, Math.floor(replicas / 2));
  return !demand.strong || replicas >= 2 * survivable + 1;
}

/**
 * The smallest count that meets each demand, over clusters from worst to best. Worst first, so that the count holds
 * whichever of them the replicas end up on.
 *
 * All clusters are counted on if that is enough; else, where allowed, the worst are left out one after the other. When
 * nothing is enough, the sizes that miss their targets by the least.
 */
export function sizeReplicas(worstFirst: readonly number[], rules: SizingRules): Sizing {
  const tries = rules.canExclude ? Math.max(1, worstFirst.length) : 1;
  let best: Sizing | undefined;
  for (let leftOut = 0; leftOut < tries; leftOut += 1) {
    const sizing = sizeOver(worstFirst.slice(leftOut), leftOut, rules);
    if (sizing.reached) return sizing;
    if (best === undefined || shortfall(sizing, rules) < shortfall(best, rules)) best = sizing;
  }
  return best ?? sizeOver([], 0, rules);
}

function sizeOver(worstFirst: readonly number[], leftOut: number, rules: SizingRules): Sizing {
  const curve = availabilityByCount(worstFirst, rules.maxReplicas, rules.algorithm);
  const sizes = rules.demands.map((demand) => sizeOf(curve, demand));
  return { worstFirst, excluded: leftOut, sizes, curve, reached: sizes.every((size) => size?.reached === true) };
}

/** The smallest allowed count that meets the demand, else the one that comes nearest, the smaller of equals. */
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

/** By how much the worst served demand is missed. */
function shortfall(sizing: Sizing, { demands }: SizingRules): number {
  return Math.max(...demands.map((demand, index) => missing(demand, sizing.sizes[index])));
}

function missing(demand: Demand, size: Size | undefined): number {
  if (size === undefined) return Number.POSITIVE_INFINITY;
  return size.reached ? 0 : demand.target - size.availability;
}

/** The demand that is missed by the most, and the nearest to it. */
export function findLargestShortfall(
  sizing: Sizing,
  demands: readonly Demand[],
): { demand: Demand; best?: Size } | undefined {
  let worst: { demand: Demand; best?: Size } | undefined;
  let most = 0;
  for (const [index, demand] of demands.entries()) {
    const best = sizing.sizes[index];
    const missed = missing(demand, best);
    if (missed <= most) continue;
    most = missed;
    worst = best === undefined ? { demand } : { demand, best };
  }
  return worst;
}
