/** Probability that more than half of the replicas are up, when each is up on its own: the Poisson-binomial recurrence. */
export function quorumAvailability(up: readonly number[]): number {
  let exactly: readonly number[] = [1];
  for (const p of up)
    exactly = Array.from(
      { length: exactly.length + 1 },
      (_, k) => (exactly[k] ?? 0) * (1 - p) + (exactly[k - 1] ?? 0) * p,
    );
  const majority = Math.trunc(up.length / 2) + 1;
  return exactly.slice(majority).reduce((sum, p) => sum + p, 0);
}

export interface QuorumStep {
  readonly replicas: number;
  readonly majority: number;
  readonly availability: number;
  readonly meets: boolean;
}

/** The availability of each number of replicas up to the planned one, placed round robin with the worst cluster first. */
export function quorumSteps(clusters: readonly number[], replicas: number, target: number): readonly QuorumStep[] {
  const worstFirst = clusters.toSorted((a, b) => a - b);
  return Array.from({ length: replicas }, (_, index) => {
    const count = index + 1;
    const up = Array.from({ length: count }, (_each, at) => worstFirst[at % worstFirst.length] ?? 0);
    const availability = quorumAvailability(up);
    return { replicas: count, majority: Math.trunc(count / 2) + 1, availability, meets: availability >= target };
  });
}
