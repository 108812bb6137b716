import { conditionIn, withoutCondition } from "../../objects/conditions.ts";
import { epochMs, wholeSeconds } from "../../objects/time.ts";
import type { Condition, Deployment, DeploymentStatus, ReplicaSet } from "../../objects/typed.ts";
import { getRolloutLimits, getSize, sum, getDesiredReplicas } from "./deployment-rollout.ts";

export interface RolloutView {
  readonly deployment: Deployment;
  readonly all: readonly ReplicaSet[];
  readonly newSet: ReplicaSet | undefined;
  readonly now: number;
}

type Conditions = readonly Condition[];

/** Deadlines of this many seconds mean none. */
const NO_DEADLINE = 2_147_483_647;

export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE;
}

/** Counts and the Available condition; Progressing only during a roll-out. */
export function computeDeploymentStatus(view: RolloutView, checksProgress: boolean): DeploymentStatus {
  const counts = countReplicas(view);
  const status = { ...counts, conditions: setAvailable(view, counts) };
  const progressConditions = checksProgress ? setProgressing(view, status) : status.conditions;
  const conditions = checksProgress ? setReplicaFailure(view, progressConditions) : progressConditions;
  return conditions.length === 0 ? counts : { ...counts, conditions };
}

function countReplicas({ deployment, all, newSet }: RolloutView): DeploymentStatus {
  const available = sum(all, (set) => set.status?.availableReplicas ?? 0);
  const unavailable = Math.max(0, sum(all, getSize) - available);
  return {
    observedGeneration: deployment.metadata.generation ?? 1,
    ...omitZero(
      "replicas",
      sum(all, (set) => set.status?.replicas ?? 0),
    ),
    ...omitZero("updatedReplicas", newSet?.status?.replicas ?? 0),
    ...omitZero(
      "readyReplicas",
      sum(all, (set) => set.status?.readyReplicas ?? 0),
    ),
    ...omitZero("availableReplicas", available),
    ...omitZero("unavailableReplicas", unavailable),
    terminatingReplicas: sum(all, (set) => set.status?.terminatingReplicas ?? 0),
    ...(deployment.status?.collisionCount === undefined ? {} : { collisionCount: deployment.status.collisionCount }),
  };
}

function omitZero<K extends string>(name: K, value: number): { readonly [N in K]?: number } {
  return (value === 0 ? {} : { [name]: value }) as { readonly [N in K]?: number };
}

function setAvailable({ deployment, now }: RolloutView, status: DeploymentStatus): Conditions {
  const minAvailable = getDesiredReplicas(deployment) - getRolloutLimits(deployment).unavailable;
  const isEnough = (status.availableReplicas ?? 0) >= minAvailable;
  return setDeploymentCondition(
    deployment.status?.conditions ?? [],
    isEnough
      ? createConditionUpdate("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
      : createConditionUpdate(
          "Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
        ),
    now,
  );
}

function setProgressing(view: RolloutView, status: DeploymentStatus): Conditions {
  const { deployment, newSet, now } = view;
  const conditions = status.conditions ?? [];
  if (!hasDeadline(deployment)) return withoutCondition(conditions, "Progressing");
  const current = conditionIn(deployment.status?.conditions, "Progressing");
  const isOver = status.replicas === status.updatedReplicas && current?.reason === "NewReplicaSetAvailable";
  if (isOver) return conditions;
  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status)) {
    const done = createConditionUpdate(
      "Progressing",
      "True",
      "NewReplicaSetAvailable",
      `${subject} has successfully progressed.`,
    );
    return setDeploymentCondition(conditions, done, now);
  }
  if (isProgressing(deployment.status ?? {}, status)) {
    const moving = createConditionUpdate("Progressing", "True", "ReplicaSetUpdated", `${subject} is progressing.`);
    // Progress updates the time even when nothing else changed: the deadline counts from it.
    const since = current?.status === "True" ? current.lastTransitionTime : undefined;
    const time = wholeSeconds(now);
    const condition = { ...moving, lastUpdateTime: time, lastTransitionTime: since ?? time };
    return [...withoutCondition(conditions, "Progressing"), condition];
  }
  if (isTimedOut(deployment, conditions, now)) {
    const late = createConditionUpdate(
      "Progressing",
      "False",
      "ProgressDeadlineExceeded",
      `${subject} has timed out progressing.`,
    );
    return setDeploymentCondition(conditions, late, now);
  }
  return conditions;
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = getDesiredReplicas(deployment);
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 1)
  );
}

function isProgressing(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: Deployment, conditions: Conditions, now: number): boolean {
  const condition = conditionIn(conditions, "Progressing");
  if (!condition || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  const from = epochMs(condition.lastUpdateTime) ?? now;
  return from + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000 < now;
}

/** Delay until a stalled roll-out must be evaluated again. */
export function getProgressCheckDelayMs(
  deployment: Deployment,
  status: DeploymentStatus,
  now: number,
): number | undefined {
  const condition = conditionIn(status.conditions, "Progressing");
  if (!hasDeadline(deployment) || !condition || isComplete(deployment, status)) return undefined;
  if (condition.reason === "ProgressDeadlineExceeded" || condition.reason === "NewReplicaSetAvailable")
    return undefined;
  const from = epochMs(condition.lastUpdateTime) ?? now;
  // One second more, because times are written without milliseconds.
  return Math.max(1000, from + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000 - now + 1000);
}

function setReplicaFailure({ all, newSet }: RolloutView, conditions: Conditions): Conditions {
  const failure = [...(newSet ? [newSet] : []), ...all]
    .map((set) => conditionIn(set.status?.conditions, "ReplicaFailure"))
    .find((condition) => condition !== undefined);
  if (!failure) return withoutCondition(conditions, "ReplicaFailure");
  const before = conditionIn(conditions, "ReplicaFailure");
  if (before?.status === failure.status && before.reason === failure.reason) return conditions;
  const time = failure.lastTransitionTime ?? "";
  return [
    ...withoutCondition(conditions, "ReplicaFailure"),
    { ...failure, lastUpdateTime: time, lastTransitionTime: time },
  ];
}

interface DeploymentConditionUpdate {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function createConditionUpdate(
  type: string,
  status: string,
  reason: string,
  message: string,
): DeploymentConditionUpdate {
  return { type, status, reason, message };
}

/**
 * Conditions of Deployments: the same status and reason change nothing; otherwise the condition moves to the end of the
 * list.
 */
export function setDeploymentCondition(
  conditions: Conditions,
  desired: DeploymentConditionUpdate,
  now: number,
): Conditions {
  const before = conditionIn(conditions, desired.type);
  if (before?.status === desired.status && before.reason === desired.reason) return conditions;
  const time = wholeSeconds(now);
  const since = before?.status === desired.status ? (before.lastTransitionTime ?? time) : time;
  return [
    ...withoutCondition(conditions, desired.type),
    { ...desired, lastUpdateTime: time, lastTransitionTime: since },
  ];
}
