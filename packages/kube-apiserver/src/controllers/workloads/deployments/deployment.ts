import { equalJson, ownerReferenceTo, type Status, type Stored } from "@oaas/kube-core";
import {
  create,
  createDecision,
  remove,
  recordEvent,
  update,
  updateStatus,
  type Decision,
  type Step,
} from "../../loop/decision.ts";
import { conditionIn } from "../../objects/conditions.ts";
import { typed } from "../../objects/cluster-view.ts";
import { DEPLOYMENTS, REPLICA_SETS } from "../../objects/resources.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../objects/typed.ts";
import {
  compareAge,
  DESIRED,
  getRolloutLimits,
  HASH_LABEL,
  isRolling,
  MAX_REPLICAS,
  findNewReplicaSet,
  computeNewSize,
  computeOldSizes,
  computeProportionalSizes,
  REVISION,
  REVISION_HISTORY,
  getRevision,
  getSize,
  getDesiredReplicas,
} from "./deployment-rollout.ts";
import {
  createConditionUpdate,
  computeDeploymentStatus,
  hasDeadline,
  isComplete,
  getProgressCheckDelayMs,
  setDeploymentCondition,
} from "./deployment-status.ts";
import { computeTemplateHash } from "../revisions.ts";

export interface DeploymentState {
  readonly deployment: Stored<Deployment>;
  /** All ReplicaSets it controls. */
  readonly replicaSets: readonly Stored<ReplicaSet>[];
  /** Whether any pod of these sets is not finished. */
  readonly hasPods: (sets: readonly Stored<ReplicaSet>[]) => boolean;
  readonly now: number;
}

interface Rollout extends DeploymentState {
  readonly newSet: Stored<ReplicaSet> | undefined;
  readonly old: readonly Stored<ReplicaSet>[];
}

/**
 * One step of a roll-out, in the order of the real controller. Each writing step ends the pass, and its change triggers
 * the next, so the status is written when nothing else is left to do.
 */
export function decideDeployment(state: DeploymentState): Decision {
  const rollout = createRollout(state);
  const { deployment } = rollout;
  if (deployment.metadata.deletionTimestamp !== undefined) return writeStatus(rollout, false);
  return (
    updatePausedCondition(rollout) ??
    syncRevision(rollout) ??
    (deployment.spec.paused === true || isScaling(rollout) ? scaleDeployment(rollout) : undefined) ??
    (isRolling(deployment) ? rollOut(rollout) : recreatePods(rollout))
  );
}

function createRollout(state: DeploymentState): Rollout {
  const newSet = findNewReplicaSet(state.deployment, state.replicaSets);
  return { ...state, newSet, old: state.replicaSets.filter((set) => set !== newSet) };
}

function updatePausedCondition({ deployment, now }: Rollout): Decision | undefined {
  const current = conditionIn(deployment.status?.conditions, "Progressing");
  if (!hasDeadline(deployment) || current?.reason === "ProgressDeadlineExceeded") return undefined;
  const isPaused = deployment.spec.paused === true;
  const wasPaused = current?.reason === "DeploymentPaused";
  if (isPaused === wasPaused) return undefined;
  const condition = isPaused
    ? createConditionUpdate("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    : createConditionUpdate("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed");
  const conditions = setDeploymentCondition(deployment.status?.conditions ?? [], condition, now);
  return createDecision([updateStatus(DEPLOYMENTS, { ...deployment, status: { ...deployment.status, conditions } })]);
}

/**
 * The new set has the next revision and the deployment's annotations; the deployment has the revision of the new set.
 */
function syncRevision(rollout: Rollout): Decision | undefined {
  const { deployment, newSet, old, now } = rollout;
  if (!newSet) return undefined;
  const revision = Math.max(getRevision(newSet), Math.max(0, ...old.map(getRevision)) + 1);
  const setAnnotations = createAnnotations(deployment, newSet, revision);
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  if (
    !equalJson(setAnnotations, newSet.metadata.annotations ?? {}) ||
    (newSet.spec.minReadySeconds ?? 0) !== minReadySeconds
  ) {
    const spec = minReadySeconds === 0 ? omitMinReady(newSet.spec) : { ...newSet.spec, minReadySeconds };
    return createDecision([
      update(REPLICA_SETS, { ...newSet, metadata: { ...newSet.metadata, annotations: setAnnotations }, spec }),
    ]);
  }
  if (deployment.metadata.annotations?.[REVISION] === String(revision)) return undefined;
  const isFresh = newSet.status?.observedGeneration === undefined;
  const message = `Created new replica set "${newSet.metadata.name}"`;
  const created = createConditionUpdate("Progressing", "True", "NewReplicaSetCreated", message);
  const before = deployment.status?.conditions ?? [];
  const conditions = hasDeadline(deployment) && isFresh ? setDeploymentCondition(before, created, now) : before;
  // Through the status endpoint, which may change annotations, as the real controller does: the spec does not change.
  const annotations = { ...deployment.metadata.annotations, [REVISION]: String(revision) };
  const metadata = { ...deployment.metadata, annotations };
  return createDecision([
    updateStatus(DEPLOYMENTS, { ...deployment, metadata, status: { ...deployment.status, conditions } }),
  ]);
}

function omitMinReady(spec: ReplicaSet["spec"]): ReplicaSet["spec"] {
  const { minReadySeconds: _, ...rest } = spec;
  return rest;
}

const OWN_ANNOTATIONS = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX_REPLICAS,
]);

function createAnnotations(
  deployment: Deployment,
  set: ReplicaSet,
  revision: number,
): Readonly<Record<string, string>> {
  const before = set.metadata.annotations ?? {};
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const earlier = getRevision(set);
  const history = [before[REVISION_HISTORY], earlier].filter((one) => one !== undefined && one !== "" && one !== 0);
  return {
    ...before,
    ...Object.fromEntries(copied),
    [REVISION]: String(revision),
    ...(earlier !== 0 && earlier < revision ? { [REVISION_HISTORY]: history.join(",") } : {}),
  };
}

function isScaling({ deployment, replicaSets }: Rollout): boolean {
  return replicaSets.some((set) => {
    const desired = set.metadata.annotations?.[DESIRED];
    return getSize(set) > 0 && desired !== undefined && Number(desired) !== getDesiredReplicas(deployment);
  });
}

/** Scaling outside of a roll-out, or in the middle of one. */
function scaleDeployment(rollout: Rollout): Decision | undefined {
  const { deployment, newSet, old } = rollout;
  const steps = createScalingSteps(rollout);
  if (steps.length > 0) return createDecision(steps);
  if (deployment.spec.paused !== true) return undefined;
  const cleaned = createCleanupSteps(deployment, old);
  return cleaned.length > 0 ? createDecision(cleaned) : writeStatus({ ...rollout, newSet }, false);
}

function createScalingSteps({ deployment, newSet, old, replicaSets }: Rollout): Step[] {
  const active = replicaSets.filter((set) => getSize(set) > 0);
  const newestOld = [...old].sort(compareAge).at(-1);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (newSet ?? newestOld) : undefined;
  if (active.length <= 1) return only ? resizeReplicaSet(deployment, only, getDesiredReplicas(deployment)) : [];
  if (newSet && isSaturated(deployment, newSet)) {
    return old.filter((set) => getSize(set) > 0).flatMap((set) => resizeReplicaSet(deployment, set, 0));
  }
  if (!isRolling(deployment)) return [];
  return [...computeProportionalSizes(deployment, active)].flatMap(([set, size]) =>
    resizeReplicaSet(deployment, set, size, true),
  );
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const desired = getDesiredReplicas(deployment);
  return (
    getSize(set) === desired &&
    Number(set.metadata.annotations?.[DESIRED]) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  );
}

/** A new size with its Event; the annotations record the desired size. */
function resizeReplicaSet(deployment: Deployment, set: Stored<ReplicaSet>, size: number, isForced = false): Step[] {
  const before = getSize(set);
  const annotations = { ...set.metadata.annotations, ...createReplicaAnnotations(deployment) };
  const isUnchanged = equalJson(annotations, set.metadata.annotations ?? {});
  if (before === size && (!isForced || isUnchanged)) return [];
  const metadata = { ...set.metadata, annotations };
  const write = update(REPLICA_SETS, { ...set, metadata, spec: { ...set.spec, replicas: size } });
  if (before === size) return [write];
  const direction = before < size ? "up" : "down";
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`;
  return [write, recordEvent({ about: deployment, type: "Normal", reason: "ScalingReplicaSet", message })];
}

function createReplicaAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const desired = getDesiredReplicas(deployment);
  return { [DESIRED]: String(desired), [MAX_REPLICAS]: String(desired + getRolloutLimits(deployment).surge) };
}

function rollOut(rollout: Rollout): Decision {
  const { deployment, newSet, old, replicaSets } = rollout;
  if (!newSet) return createDecision([createReplicaSetStep(rollout)]);
  const desired = getDesiredReplicas(deployment);
  const size = getSize(newSet) > desired ? desired : computeNewSize(deployment, replicaSets, newSet);
  const growth = resizeReplicaSet(deployment, newSet, size);
  if (growth.length > 0) return createDecision(growth);
  const active = old.filter((set) => getSize(set) > 0);
  const shrinking = [...computeOldSizes(deployment, newSet, active)].flatMap(([set, to]) =>
    resizeReplicaSet(deployment, set as Stored<ReplicaSet>, to),
  );
  return shrinking.length > 0 ? createDecision(shrinking) : finishRollout(rollout);
}

/** All old pods must be finished before new ones start. */
function recreatePods(rollout: Rollout): Decision {
  const { deployment, newSet, old, hasPods } = rollout;
  const shrinking = old.filter((set) => getSize(set) > 0).flatMap((set) => resizeReplicaSet(deployment, set, 0));
  if (shrinking.length > 0) return createDecision(shrinking);
  if (hasPods(old)) return writeStatus(rollout, true);
  if (!newSet) return createDecision([createReplicaSetStep(rollout)]);
  const growth = resizeReplicaSet(deployment, newSet, getDesiredReplicas(deployment));
  return growth.length > 0 ? createDecision(growth) : finishRollout(rollout);
}

function finishRollout(rollout: Rollout): Decision {
  const { deployment, old } = rollout;
  const cleaned = isComplete(deployment, deployment.status ?? {}) ? createCleanupSteps(deployment, old) : [];
  return cleaned.length > 0 ? createDecision(cleaned) : writeStatus(rollout, true);
}

function createReplicaSetStep({ deployment, old, replicaSets }: Rollout): Step {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = computeTemplateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const draft: ReplicaSet = {
    apiVersion: REPLICA_SETS.apiVersion,
    kind: REPLICA_SETS.kind,
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...(deployment.metadata.namespace === undefined ? {} : { namespace: deployment.metadata.namespace }),
      labels,
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds === undefined || minReadySeconds === 0 ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  const size = computeNewSize(deployment, [...replicaSets, draft], draft);
  const revision = Math.max(0, ...old.map(getRevision)) + 1;
  const annotations = { ...createAnnotations(deployment, draft, revision), ...createReplicaAnnotations(deployment) };
  const set = { ...draft, metadata: { ...draft.metadata, annotations }, spec: { ...draft.spec, replicas: size } };
  return create(
    REPLICA_SETS,
    set,
    size === 0
      ? {}
      : {
          done: (created) => ({
            about: deployment,
            type: "Normal",
            reason: "ScalingReplicaSet",
            message: `Scaled up replica set ${typed(created).metadata.name} from 0 to ${size}`,
          }),
        },
  );
}

/** Old sets beyond the history limit, oldest revisions first. */
function createCleanupSteps({ spec }: Deployment, old: readonly Stored<ReplicaSet>[]): Step[] {
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = alive.length - (spec.revisionHistoryLimit ?? 10);
  if (surplus <= 0) return [];
  return [...alive]
    .sort((a, b) => getRevision(a) - getRevision(b) || compareAge(a, b))
    .slice(0, surplus)
    .filter((set) => getSize(set) === 0 && (set.status?.replicas ?? 0) === 0)
    .filter((set) => (set.metadata.generation ?? 1) <= (set.status?.observedGeneration ?? 0))
    .map((set) => remove(REPLICA_SETS, set));
}

function writeStatus({ deployment, replicaSets, newSet, now }: Rollout, checksProgress: boolean): Decision {
  const status = computeDeploymentStatus({ deployment, all: replicaSets, newSet, now }, checksProgress);
  const waitMs = checksProgress ? getProgressCheckDelayMs(deployment, status, now) : undefined;
  if (equalJson(status, deployment.status ?? {})) return createDecision([], waitMs);
  return createDecision([updateStatus(DEPLOYMENTS, { ...deployment, status })], waitMs);
}

/** A new set that cannot be created: its name is taken (the next hash is tried), or the server rejects it. */
export function handleCreateError({ deployment, now }: DeploymentState, name: string, error: Status): Decision {
  const before: DeploymentStatus = deployment.status ?? {};
  if (error.reason === "AlreadyExists") {
    const status = { ...before, collisionCount: (before.collisionCount ?? 0) + 1 };
    return createDecision([updateStatus(DEPLOYMENTS, { ...deployment, status })]);
  }
  const message = `Failed to create new replica set "${name}": ${error.message ?? ""}`;
  const failed = createConditionUpdate("Progressing", "False", "ReplicaSetCreateError", message);
  const conditions = setDeploymentCondition(before.conditions ?? [], failed, now);
  return createDecision([
    recordEvent({ about: deployment, type: "Warning", reason: "ReplicaSetCreateError", message }),
    hasDeadline(deployment)
      ? updateStatus(DEPLOYMENTS, { ...deployment, status: { ...before, conditions } })
      : undefined,
  ]);
}
