import type { ClusterReplicas } from "../sizing/cluster-failures.ts";
import { neededReplicas, worstReplicas } from "../sizing/cluster-failures.ts";
import { domainAvailability } from "../sizing/failure-domains.ts";
import { meets } from "../sizing/quorum.ts";
import { allowsReplicaCount, CLASS_SUBJECT, type Demand, type Size, type Sizing } from "../sizing/replicas.ts";
import type { Candidate } from "./candidates.ts";

/** The inputs of a search by failure domains. */
export interface DomainSearch {
  /** Usable clusters, best first. */
  readonly bestFirst: readonly Candidate[];
  readonly demands: readonly [Demand, ...Demand[]];
  readonly maxReplicas: number;
  /** The user named the clusters: all of them are used. */
  readonly usesAll: boolean;
  /** Of a class with state a majority of the copies must be up, of a stateless class any replica. */
  readonly hasState: boolean;
  readonly place: (clusters: readonly Candidate[], replicas: number, demand: Demand) => readonly ClusterReplicas[];
  readonly availabilityIn: (candidate: Candidate) => number;
  readonly zoneOf: (candidate: Candidate) => string | undefined;
}

export interface DomainSizing {
  readonly sizing: Sizing;
  /** Best first. */
  readonly chosen: readonly Candidate[];
}

/** Up to this many clusters, every set of them is tried. */
const MAX_EXHAUSTIVE_CLUSTERS = 6;
/** Beyond, the best clusters of distinct zones are tried: this many, and as many as there are replicas. */
const MAX_PREFIX = 8;

/** The smallest count and the set of clusters that meet every demand by failure domains, else the closest ones. */
export function sizeByDomains(search: DomainSearch): DomainSizing {
  const sets = clusterSets(search).map((chosen) => ({ chosen, sizeFunctions: functionSizing(search, chosen) }));
  const [ofClass] = search.demands;
  let closest: DomainSizing | undefined;
  let closestShortfall = Number.POSITIVE_INFINITY;
  for (let replicas = 1; replicas <= search.maxReplicas; replicas += 1) {
    if (!allowsReplicaCount(ofClass, replicas)) continue;
    let best: DomainSizing | undefined;
    let bestAvailability = -1;
    for (const { chosen, sizeFunctions } of sets) {
      if (!isTried(search, sets.length, chosen.length, replicas)) continue;
      const availability = availabilityFor(search, chosen, ofClass, replicas);
      const reached = meets(availability, ofClass.target);
      const shortfall = reached ? 0 : ofClass.target - availability;
      if (availability <= bestAvailability && shortfall >= closestShortfall) continue;
      const size = { demand: ofClass, replicas, availability, reached };
      const result = sizingOf(search, chosen, [size, ...sizeFunctions()]);
      const largest = Math.max(0, ...result.sizing.sizes.map(shortfallOf));
      if (largest < closestShortfall) {
        closest = result;
        closestShortfall = largest;
      }
      if (result.sizing.reached && availability > bestAvailability) {
        best = result;
        bestAvailability = availability;
      }
    }
    if (best !== undefined) return best;
  }
  return closest ?? { sizing: emptySizing(search), chosen: search.bestFirst };
}

/** The availability of replicas of a class or function that are placed like this. */
export function availabilityByDomains(placed: readonly ClusterReplicas[], replicas: number, hasState: boolean): number {
  return hasState
    ? domainAvailability(worstReplicas(placed, replicas), neededReplicas(replicas, "domains"))
    : domainAvailability(placed, 1);
}

function availabilityFor(search: DomainSearch, chosen: readonly Candidate[], demand: Demand, replicas: number): number {
  const hasState = search.hasState && demand.subject === CLASS_SUBJECT;
  return availabilityByDomains(search.place(chosen, replicas, demand), replicas, hasState);
}

function sizingOf(
  search: DomainSearch,
  chosen: readonly Candidate[],
  sizes: readonly (Size | undefined)[],
): DomainSizing {
  const worstFirst = chosen.map(search.availabilityIn).sort((a, b) => a - b);
  return {
    sizing: {
      worstFirst,
      excluded: search.bestFirst.length - chosen.length,
      sizes,
      curve: [],
      reached: sizes.every((size) => size?.reached === true),
    },
    chosen,
  };
}

/** The sizes of the functions on these clusters, computed once: they do not depend on the replicas of the class. */
function functionSizing(search: DomainSearch, chosen: readonly Candidate[]): () => readonly (Size | undefined)[] {
  const [, ...demands] = search.demands;
  const curve: number[] = [];
  // The clusters serve every function alike.
  const availabilityOf = (demand: Demand, replicas: number): number =>
    (curve[replicas] ??= availabilityFor(search, chosen, demand, replicas));
  let sizes: readonly (Size | undefined)[] | undefined;
  return () => (sizes ??= demands.map((demand) => sizeFunction(demand, search.maxReplicas, availabilityOf)));
}

/** The smallest count of a function, else the closest one. */
function sizeFunction(
  demand: Demand,
  maxReplicas: number,
  availabilityOf: (demand: Demand, replicas: number) => number,
): Size | undefined {
  let best: Size | undefined;
  for (let replicas = 1; replicas <= maxReplicas; replicas += 1) {
    const availability = availabilityOf(demand, replicas);
    const reached = meets(availability, demand.target);
    if (reached || best === undefined || availability > best.availability)
      best = { demand, replicas, availability, reached };
    if (reached) break;
  }
  return best;
}

function shortfallOf(size: Size | undefined): number {
  if (size === undefined) return Number.POSITIVE_INFINITY;
  return size.reached ? 0 : size.demand.target - size.availability;
}

function emptySizing({ demands, bestFirst, availabilityIn }: DomainSearch): Sizing {
  const worstFirst = bestFirst.map(availabilityIn).sort((a, b) => a - b);
  return { worstFirst, excluded: 0, sizes: demands.map(() => undefined), curve: [], reached: false };
}

function isTried({ usesAll }: DomainSearch, sets: number, clusters: number, replicas: number): boolean {
  if (usesAll) return true;
  if (clusters > replicas) return false;
  return sets < 1 << MAX_EXHAUSTIVE_CLUSTERS ? true : clusters <= MAX_PREFIX || clusters === replicas;
}

/** The sets of clusters to try, each best first. */
function clusterSets({ bestFirst, usesAll, zoneOf }: DomainSearch): readonly (readonly Candidate[])[] {
  if (usesAll) return [bestFirst];
  if (bestFirst.length <= MAX_EXHAUSTIVE_CLUSTERS) {
    return Array.from({ length: (1 << bestFirst.length) - 1 }, (_, index) =>
      bestFirst.filter((_candidate, bit) => ((index + 1) >> bit) % 2 === 1),
    );
  }
  const spread = spreadOverZones(bestFirst, zoneOf);
  return spread.map((_, index) => spread.slice(0, index + 1));
}

/** The best cluster of every zone first, then the second best of every zone, and so on. */
function spreadOverZones(bestFirst: readonly Candidate[], zoneOf: DomainSearch["zoneOf"]): readonly Candidate[] {
  const seen = new Map<string, number>();
  return bestFirst
    .map((candidate) => {
      const zone = zoneOf(candidate);
      const round = zone === undefined ? 0 : (seen.get(zone) ?? 0);
      if (zone !== undefined) seen.set(zone, round + 1);
      return { candidate, round };
    })
    .sort((a, b) => a.round - b.round)
    .map(({ candidate }) => candidate);
}
