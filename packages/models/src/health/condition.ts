/** Health of a deployment, of its unit in a cluster, and of a function. */
export const DeploymentCondition = {
  pending: "pending",
  deploying: "deploying",
  running: "running",
  degraded: "degraded",
  down: "down",
  deleted: "deleted",
  unknown: "unknown",
} as const;
export type DeploymentCondition = (typeof DeploymentCondition)[keyof typeof DeploymentCondition];

/** Phase of a class runtime in its cluster, from the status of its resource. */
export const LifecyclePhase = {
  pending: "pending",
  applying: "applying",
  progressing: "progressing",
  available: "available",
  degraded: "degraded",
  deleting: "deleting",
} as const;
export type LifecyclePhase = (typeof LifecyclePhase)[keyof typeof LifecyclePhase];

/** Outcome of a revision of a deployment. `accepted` until the clusters report the result. */
export const RevisionOutcome = {
  accepted: "accepted",
  running: "running",
  degraded: "degraded",
  failed: "failed",
  rolledBack: "rolled-back",
  cancelled: "cancelled",
  superseded: "superseded",
} as const;
export type RevisionOutcome = (typeof RevisionOutcome)[keyof typeof RevisionOutcome];

/** Health of one part of a deployment: a unit, or a function of a unit. */
export interface PartHealth {
  readonly condition: DeploymentCondition;
  /** Requests are answered, possibly by an earlier revision or by fewer replicas. */
  readonly serving: boolean;
}

const PHASE_CONDITIONS = {
  pending: "pending",
  applying: "deploying",
  progressing: "deploying",
  available: "running",
  degraded: "down",
  deleting: "deleted",
} as const satisfies Record<LifecyclePhase, DeploymentCondition>;

/** The condition of a class runtime or function. A fault is `down` only if nothing serves. */
export function conditionOfPhase(phase: LifecyclePhase, serving: boolean): DeploymentCondition {
  return phase === "degraded" && serving ? "degraded" : PHASE_CONDITIONS[phase];
}

const SEVERITY = {
  running: 1,
  unknown: 2,
  pending: 2,
  deploying: 3,
  degraded: 4,
  down: 5,
  deleted: 5,
} as const satisfies Record<DeploymentCondition, number>;

/** The condition of a whole whose worst part has this condition, while another part serves. */
const WHILE_SERVING = {
  running: "running",
  unknown: "degraded",
  pending: "deploying",
  deploying: "deploying",
  degraded: "degraded",
  down: "degraded",
  deleted: "deleted",
} as const satisfies Record<DeploymentCondition, DeploymentCondition>;

/**
 * The condition of a whole: the worst condition of its parts; `pending` without parts.
 *
 * A whole with a part that serves is at worst `degraded`. It is `degraded` when another part cannot be read, and
 * `deploying` when another part has not started.
 */
export function combineConditions(parts: readonly PartHealth[]): DeploymentCondition {
  const worst = parts.reduce<DeploymentCondition | undefined>(
    (before, { condition }) => (before === undefined || SEVERITY[condition] > SEVERITY[before] ? condition : before),
    undefined,
  );
  if (worst === undefined) return "pending";
  return parts.some(({ serving }) => serving) ? WHILE_SERVING[worst] : worst;
}

const TOPOLOGY_STATUSES = {
  pending: "pending",
  deploying: "pending",
  running: "healthy",
  degraded: "degraded",
  down: "unhealthy",
  deleted: "pending",
  unknown: "unknown",
} as const satisfies Record<DeploymentCondition, string>;

/** The status of a topology node: the words that clients of topologies know. */
export function topologyStatusOf(condition: DeploymentCondition): (typeof TOPOLOGY_STATUSES)[DeploymentCondition] {
  return TOPOLOGY_STATUSES[condition];
}

/** The outcome that a condition gives a revision; undefined while the roll-out continues. */
export function outcomeOfCondition(condition: DeploymentCondition): RevisionOutcome | undefined {
  if (condition === "running" || condition === "degraded") return condition;
  return condition === "down" ? "failed" : undefined;
}

/** The condition for clients that do not know `degraded`: the desired state is not reached, and something serves. */
export function conditionBeforeDegraded(
  condition: DeploymentCondition,
): Exclude<DeploymentCondition, typeof DeploymentCondition.degraded> {
  return condition === "degraded" ? "deploying" : condition;
}
