import type { PlannerAlgorithm } from "../plan-types.ts";

/** Rounding tolerance when a computed availability is compared with a target. */
const ROUNDING = 1e-12;

/** The highest target: no finite number of replicas is always up, so a target of 1 means this. */
export const HIGHEST_TARGET = 0.999_999_999;

/** Whether an availability meets a target, up to rounding. */
export function meets(availability: number, target: number): boolean {
  return availability + ROUNDING >= Math.min(target, HIGHEST_TARGET);
}

/** The probability that a majority of independent replicas is up; 0 without replicas. */
export function quorumAvailability(replicas: readonly number[]): number {
  return availabilityOf(replicas, "quorum");
}

/** The probability that enough replicas are up: a majority, or any one. */
export function availabilityOf(replicas: readonly number[], algorithm: PlannerAlgorithm): number {
  return availabilityByCount(replicas, replicas.length, algorithm).at(-1) ?? 0;
}

/**
 * The availability of 1, 2, … `most` replicas placed on the clusters in the given order, round robin. It is not
 * monotonic: a quorum of two is less available than one replica.
 */
export function availabilityByCount(clusters: readonly number[], most: number, algorithm: PlannerAlgorithm): number[] {
  if (clusters.length === 0) return [];
  return algorithm === "independent" ? anyByCount(clusters, most) : quorumByCount(clusters, most);
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
