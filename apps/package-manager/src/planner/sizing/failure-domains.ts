import { countReplicas, type ClusterReplicas } from "./cluster-failures.ts";

/** A failure domain: its failure takes all replicas in it down. */
export interface FailureDomain {
  readonly kind: "zone" | "cluster" | "node";
  readonly name: string;
  readonly availability: number;
}

/**
 * The probability that `needed` replicas are up. A replica is up when its cluster, the zone of its cluster and its node
 * are up; domains fail independently of each other.
 *
 * *Guarantees*: exact, in O(replicas²) per cluster. The availability of a single replica is that of its cluster, as in
 * the quorum, unless zone and node alone are down more often. Zones or nodes that are not known count as always up.
 */
export function domainAvailability(placed: readonly ClusterReplicas[], needed: number): number {
  const total = countReplicas(placed);
  let up: readonly number[] = [1];
  for (const { availability, clusters } of zonesOf(placed)) {
    const inZone = clusters.map(clusterDistribution).reduce(convolve, [1]);
    up = convolve(up, mixWithNone(inZone, availability));
  }
  let enough = 0;
  for (let count = total; count >= needed; count -= 1) enough += up[count] ?? 0;
  return Math.min(1, enough);
}

/** The domain that costs the most: the one whose permanent availability would raise the number the most. */
export function limitingDomain(placed: readonly ClusterReplicas[], needed: number): FailureDomain | undefined {
  let limiting: FailureDomain | undefined;
  let best = domainAvailability(placed, needed);
  const consider = (domain: FailureDomain, changed: readonly ClusterReplicas[]): void => {
    const value = domainAvailability(changed, needed);
    if (value <= best) return;
    best = value;
    limiting = domain;
  };
  for (const { name, availability } of zonesOf(placed)) {
    if (name === undefined) continue;
    // The share of the cluster itself stays; only the failures of the zone are left out.
    const without = placed.map((each) =>
      each.zone?.name === name
        ? {
            ...each,
            availability: clusterShare(each) * (each.nodes?.availability ?? 1),
            zone: { name, availability: 1 },
          }
        : each,
    );
    consider({ kind: "zone", name, availability }, without);
  }
  for (const each of placed) {
    const without = placed.map((other) => (other === each ? withShare(each, 1) : other));
    consider({ kind: "cluster", name: each.cluster, availability: clusterShare(each) }, without);
    if (each.nodes === undefined) continue;
    const { availability } = each.nodes;
    const onPerfectNodes = { ...each, nodes: { ...each.nodes, availability: 1 } };
    const share = clusterShare(each) * (each.zone?.availability ?? 1);
    const changed = placed.map((other) => (other === each ? { ...onPerfectNodes, availability: share } : other));
    consider({ kind: "node", name: `nodes of ${each.cluster}`, availability }, changed);
  }
  return limiting;
}

interface Zone {
  /** Undefined for a cluster without a known zone. */
  readonly name: string | undefined;
  readonly availability: number;
  readonly clusters: ClusterReplicas[];
}

function zonesOf(placed: readonly ClusterReplicas[]): readonly Zone[] {
  const zones = new Map<string, Zone>();
  const alone: Zone[] = [];
  for (const each of placed) {
    const { name, availability = 1 } = each.zone ?? {};
    const known = name === undefined ? undefined : zones.get(name);
    if (known !== undefined) {
      known.clusters.push(each);
      continue;
    }
    const zone = { name, availability, clusters: [each] };
    if (name === undefined) alone.push(zone);
    else zones.set(name, zone);
  }
  return [...zones.values(), ...alone];
}

/** The share of time that the cluster itself is up: its availability without the part of its zone and its nodes. */
function clusterShare({ availability, zone, nodes }: ClusterReplicas): number {
  const rest = (zone?.availability ?? 1) * (nodes?.availability ?? 1);
  return rest === 0 ? 0 : Math.min(1, availability / rest);
}

/** The same replicas in a cluster that is itself up for `share` of the time. */
function withShare(each: ClusterReplicas, share: number): ClusterReplicas {
  const rest = (each.zone?.availability ?? 1) * (each.nodes?.availability ?? 1);
  return { ...each, availability: share * rest };
}

/** How many replicas of a cluster are up while its zone is up. Replicas are spread evenly over its nodes. */
function clusterDistribution(each: ClusterReplicas): readonly number[] {
  const { replicas, nodes = { count: replicas, availability: 1 } } = each;
  const used = Math.max(1, Math.min(replicas, nodes.count));
  let up: readonly number[] = [1];
  for (let node = 0; node < used; node += 1) {
    const held = Math.floor(replicas / used) + (node < replicas % used ? 1 : 0);
    const all = Array.from({ length: held + 1 }, (_, count) => (count === held ? 1 : 0));
    up = convolve(up, mixWithNone(all, nodes.availability));
  }
  return mixWithNone(up, clusterShare(each));
}

/** The distribution with probability `share`, else no replica. */
function mixWithNone(distribution: readonly number[], share: number): number[] {
  return distribution.map((probability, count) => probability * share + (count === 0 ? 1 - share : 0));
}

function convolve(a: readonly number[], b: readonly number[]): number[] {
  const sum = Array.from({ length: a.length + b.length - 1 }, () => 0);
  for (const [i, left] of a.entries()) {
    if (left === 0) continue;
    for (const [j, right] of b.entries()) sum[i + j] = (sum[i + j] ?? 0) + left * right;
  }
  return sum;
}
