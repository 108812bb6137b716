import type { PlannerAlgorithm } from "../plan-types.ts";

/** What rounding may cost when a computed availability is compared with a target. */
const ROUNDING = 1e-12;

/** No finite number of replicas is up for certain, so that a target of 1 means this. */
export const HIGHEST_TARGET = 0.999_999_999;

/** Whether an availability meets a target, up to rounding. */
export function meets(availability: number, target: number): boolean {
  return availability + ROUNDING >= Math.min(target, HIGHEST_TARGET);
}

/** That a majority is up, of replicas that are up with these probabilities and independently; 0 of none. */
export function quorumAvailability(replicas: readonly number[]): number {
  return availabilityOf(replicas, "quorum");
}

/** That these replicas together are up: a majority of them, or any one. */
export function availabilityOf(replicas: readonly number[], algorithm: PlannerAlgorithm): number {
  return availabilityByCount(replicas, replicas.length, algorithm).at(-1) ?? 0;
}

/**
 * The availability of 1, 2, … `most` replicas that are put on the clusters in the given order, going round again when
 * there are more replicas than clusters. Not monotonic: a quorum of two is worse than one replica alone.
 */
export function availabilityByCount(clusters: readonly number[], most: number, algorithm: PlannerAlgorithm): number[] {
  if (clusters.length === 0) return [];
  return algorithm === "quorum" ? quorumByCount(clusters, most) : anyByCount(clusters, most);
}

/** The Poisson-binomial recurrence: after each replica, `up[k]` is the probability that exactly k are up. */
function quorumByCount(clusters: readonly number[], most: number): number[] {
  const up = new Float64Array(most + 1);
  up[0] = 1;
  const availabilities: number[] = [];
  for (let count = 1; count <= most; count += 1) {
    const p = clusters[(count - 1) % clusters.length] ?? 0;
    for (let k = count; k > 0; k -= 1) up[k] = (up[k] ?? 0) * (1 - p) + (up[k - 1] ?? 0) * p;
    up[0] = (up[0] ?? 0) * (1 - p);
    let quorum = 0;
    for (let k = count; k > count / 2; k -= 1) quorum += up[k] ?? 0;
    availabilities.push(Math.min(1, quorum));
  }
  return availabilities;
}

function anyByCount(clusters: readonly number[], most: number): number[] {
  let down = 1;
  return Array.from({ length: most }, (_, index) => {
    down *= 1 - (clusters[index % clusters.length] ?? 0);
    return 1 - down;
  });
}
