import {
  clusterAvailability,
  ClusterStatus,
  estimateAvailability,
  type AvailabilityEstimate,
  type AvailabilityPrior,
  type ClusterHealth,
  type ClusterName,
} from "@oaas/models";
import type { HealthReading } from "../ports.ts";

/**
 * The only place that decides about the health of a cluster. The health directory stores readings, the planner explains
 * problems, and the drift reconciler skips clusters; all of them ask these functions.
 */

/** Whether the last health check got a response. */
export function isReachable({ error }: Pick<HealthReading, "error">): boolean {
  return error === undefined;
}

/** Whether background work may call the cluster. */
export function isCallable({ breaker, health }: Pick<HealthReading, "breaker" | "health">): boolean {
  return breaker !== "open" && health.status !== ClusterStatus.unhealthy;
}

/** Whether a cluster became reachable with this reading. */
export function hasRecovered(reading: HealthReading, before: HealthReading | undefined): boolean {
  return before !== undefined && !isReachable(before) && isReachable(reading);
}

/** The reading after a failed health check: unhealthy with the last known numbers, unknown if no check ever succeeded. */
export function failedReading(
  cluster: ClusterName,
  before: HealthReading | undefined,
  breaker: HealthReading["breaker"],
  error: string,
): HealthReading {
  if (before?.takenAtMs === undefined) {
    return { cluster, health: { cluster, status: ClusterStatus.unknown }, breaker, error };
  }
  return { ...before, health: { ...before.health, status: ClusterStatus.unhealthy }, breaker, error };
}

/** The health of a cluster as an input of a plan. */
export interface HealthFacts {
  /** The last successful reading, however old. */
  readonly reading?: ClusterHealth;
  readonly readingAgeMs?: number;
  /** Why the last health check failed; absent when it succeeded. */
  readonly problem?: string;
  readonly breaker: HealthReading["breaker"];
  /** The availability that the operator promises. */
  readonly prior?: AvailabilityPrior;
}

/** Rules a cluster out unless the user named it. */
export type BlockingProblem = "no-reading" | "never-up" | "unhealthy" | "breaker-open" | "stale";

/** Is reported, but does not rule a cluster out. */
export type HealthWarning = "degraded" | "half-open" | "unreachable";

export interface HealthAssessment {
  /** Absent when it is unknown. */
  readonly estimate?: AvailabilityEstimate;
  readonly blocking: readonly BlockingProblem[];
  readonly warnings: readonly HealthWarning[];
}

/** Decides whether new replicas may be placed in a cluster. */
export function assessHealth(facts: HealthFacts, maxReadingAgeMs: number): HealthAssessment {
  const { reading, readingAgeMs = 0, problem, breaker, prior } = facts;
  // A promise alone does not make a cluster usable: its manager must have answered once.
  const estimate = reading === undefined ? undefined : estimateAvailability(reading, prior);
  if (reading === undefined || estimate === undefined) return { blocking: ["no-reading"], warnings: [] };
  const blocking: Readonly<Record<Exclude<BlockingProblem, "no-reading">, boolean>> = {
    "never-up": (clusterAvailability(reading) ?? estimate.value) <= 0,
    unhealthy: reading.status === ClusterStatus.unhealthy,
    "breaker-open": breaker === "open",
    stale: readingAgeMs > maxReadingAgeMs,
  };
  const warnings: Readonly<Record<HealthWarning, boolean>> = {
    degraded: reading.status === ClusterStatus.degraded,
    "half-open": breaker === "half-open",
    unreachable: problem !== undefined,
  };
  return { estimate, blocking: present(blocking), warnings: present(warnings) };
}

function present<Problem extends string>(problems: Readonly<Record<Problem, boolean>>): Problem[] {
  return (Object.keys(problems) as Problem[]).filter((problem) => problems[problem]);
}
