import { equalJson, ownerReferenceTo, type Status, type Stored } from "@oaas/kube-core";
import {
  create,
  decision,
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
  byAge,
  DESIRED,
  fenceOf,
  HASH_LABEL,
  isRolling,
  MOST,
  newSetOf,
  newSize,
  oldSizes,
  proportionalSizes,
  REVISION,
  REVISION_HISTORY,
  revisionOf,
  sizeOf,
  wantedOf,
} from "./deployment-rollout.ts";
import {
  claim,
  deploymentStatus,
  hasDeadline,
  isComplete,
  judgedAgainInMs,
  withDeploymentCondition,
} from "./deployment-status.ts";
import { templateHash } from "../revisions.ts";

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
  const rollout = rolloutOf(state);
  const { deployment } = rollout;
  if (deployment.metadata.deletionTimestamp !== undefined) return settledStatus(rollout, false);
  return (
    pausing(rollout) ??
    named(rollout) ??
    (deployment.spec.paused === true || isScaled(rollout) ? scaled(rollout) : undefined) ??
    (isRolling(deployment) ? rolled(rollout) : recreated(rollout))
  );
}

function rolloutOf(state: DeploymentState): Rollout {
  const newSet = newSetOf(state.deployment, state.replicaSets);
  return { ...state, newSet, old: state.replicaSets.filter((set) => set !== newSet) };
}

function pausing({ deployment, now }: Rollout): Decision | undefined {
  const current = conditionIn(deployment.status?.conditions, "Progressing");
  if (!hasDeadline(deployment) || current?.reason === "ProgressDeadlineExceeded") return undefined;
  const isPaused = deployment.spec.paused === true;
  const wasPaused = current?.reason === "DeploymentPaused";
  if (isPaused === wasPaused) return undefined;
  const wanted = isPaused
    ? claim("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    : claim("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed");
  const conditions = withDeploymentCondition(deployment.status?.conditions ?? [], wanted, now);
  return decision([updateStatus(DEPLOYMENTS, { ...deployment, status: { ...deployment.status, conditions } })]);
}

/**
 * The new set has the next revision and the deployment's annotations; the deployment has the revision of the new set.
 */
function named(rollout: Rollout): Decision | undefined {
  const { deployment, newSet, old, now } = rollout;
  if (!newSet) return undefined;
  const revision = Math.max(revisionOf(newSet), Math.max(0, ...old.map(revisionOf)) + 1);
  const copied = setAnnotations(deployment, newSet, revision);
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  if (!equalJson(copied, newSet.metadata.annotations ?? {}) || (newSet.spec.minReadySeconds ?? 0) !== minReadySeconds) {
    const spec = minReadySeconds === 0 ? withoutMinReady(newSet.spec) : { ...newSet.spec, minReadySeconds };
    return decision([update(REPLICA_SETS, { ...newSet, metadata: { ...newSet.metadata, annotations: copied }, spec })]);
  }
  if (deployment.metadata.annotations?.[REVISION] === String(revision)) return undefined;
  const isFresh = newSet.status?.observedGeneration === undefined;
  const message = `Created new replica set "${newSet.metadata.name}"`;
  const created = claim("Progressing", "True", "NewReplicaSetCreated", message);
  const before = deployment.status?.conditions ?? [];
  const conditions = hasDeadline(deployment) && isFresh ? withDeploymentCondition(before, created, now) : before;
  // Through the status endpoint, which may change annotations, as the real controller does: the spec does not change.
  const annotations = { ...deployment.metadata.annotations, [REVISION]: String(revision) };
  const metadata = { ...deployment.metadata, annotations };
  return decision([
    updateStatus(DEPLOYMENTS, { ...deployment, metadata, status: { ...deployment.status, conditions } }),
  ]);
}

function withoutMinReady(spec: ReplicaSet["spec"]): ReplicaSet["spec"] {
  const { minReadySeconds: _, ...rest } = spec;
  return rest;
}

const OWN_ANNOTATIONS = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MOST,
]);

function setAnnotations(deployment: Deployment, set: ReplicaSet, revision: number): Readonly<Record<string, string>> {
  const before = set.metadata.annotations ?? {};
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const earlier = revisionOf(set);
  const history = [before[REVISION_HISTORY], earlier].filter((one) => one !== undefined && one !== "" && one !== 0);
  return {
    ...before,
    ...Object.fromEntries(copied),
    [REVISION]: String(revision),
    ...(earlier !== 0 && earlier < revision ? { [REVISION_HISTORY]: history.join(",") } : {}),
  };
}

function isScaled({ deployment, replicaSets }: Rollout): boolean {
  return replicaSets.some((set) => {
    const desired = set.metadata.annotations?.[DESIRED];
    return sizeOf(set) > 0 && desired !== undefined && Number(desired) !== wantedOf(deployment);
  });
}

/** Scaling outside of a roll-out, or in the middle of one. */
function scaled(rollout: Rollout): Decision | undefined {
  const { deployment, newSet, old } = rollout;
  const steps = scalingSteps(rollout);
  if (steps.length > 0) return decision(steps);
  if (deployment.spec.paused !== true) return undefined;
  const cleaned = cleanup(deployment, old);
  return cleaned.length > 0 ? decision(cleaned) : settledStatus({ ...rollout, newSet }, false);
}

function scalingSteps({ deployment, newSet, old, replicaSets }: Rollout): Step[] {
  const active = replicaSets.filter((set) => sizeOf(set) > 0);
  const newestOld = [...old].sort(byAge).at(-1);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (newSet ?? newestOld) : undefined;
  if (active.length <= 1) return only ? resized(deployment, only, wantedOf(deployment)) : [];
  if (newSet && isSaturated(deployment, newSet)) {
    return old.filter((set) => sizeOf(set) > 0).flatMap((set) => resized(deployment, set, 0));
  }
  if (!isRolling(deployment)) return [];
  return [...proportionalSizes(deployment, active)].flatMap(([set, size]) => resized(deployment, set, size, true));
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = wantedOf(deployment);
  return (
    sizeOf(set) === wanted &&
    Number(set.metadata.annotations?.[DESIRED]) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

/** A new size with its Event; the annotations record the desired size. */
function resized(deployment: Deployment, set: Stored<ReplicaSet>, size: number, isForced = false): Step[] {
  const before = sizeOf(set);
  const annotations = { ...set.metadata.annotations, ...replicaAnnotations(deployment) };
  const isSameWish = equalJson(annotations, set.metadata.annotations ?? {});
  if (before === size && (!isForced || isSameWish)) return [];
  const metadata = { ...set.metadata, annotations };
  const write = update(REPLICA_SETS, { ...set, metadata, spec: { ...set.spec, replicas: size } });
  if (before === size) return [write];
  const direction = before < size ? "up" : "down";
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`;
  return [write, recordEvent({ about: deployment, type: "Normal", reason: "ScalingReplicaSet", message })];
}

function replicaAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const wanted = wantedOf(deployment);
  return { [DESIRED]: String(wanted), [MOST]: String(wanted + fenceOf(deployment).surge) };
}

function rolled(rollout: Rollout): Decision {
  const { deployment, newSet, old, replicaSets } = rollout;
  if (!newSet) return decision([newSetStep(rollout)]);
  const wanted = wantedOf(deployment);
  const size = sizeOf(newSet) > wanted ? wanted : newSize(deployment, replicaSets, newSet);
  const growth = resized(deployment, newSet, size);
  if (growth.length > 0) return decision(growth);
  const active = old.filter((set) => sizeOf(set) > 0);
  const shrinking = [...oldSizes(deployment, newSet, active)].flatMap(([set, to]) =>
    resized(deployment, set as Stored<ReplicaSet>, to),
  );
  return shrinking.length > 0 ? decision(shrinking) : finished(rollout);
}

/** All old pods must be finished before new ones start. */
function recreated(rollout: Rollout): Decision {
  const { deployment, newSet, old, hasPods } = rollout;
  const shrinking = old.filter((set) => sizeOf(set) > 0).flatMap((set) => resized(deployment, set, 0));
  if (shrinking.length > 0) return decision(shrinking);
  if (hasPods(old)) return settledStatus(rollout, true);
  if (!newSet) return decision([newSetStep(rollout)]);
  const growth = resized(deployment, newSet, wantedOf(deployment));
  return growth.length > 0 ? decision(growth) : finished(rollout);
}

function finished(rollout: Rollout): Decision {
  const { deployment, old } = rollout;
  const cleaned = isComplete(deployment, deployment.status ?? {}) ? cleanup(deployment, old) : [];
  return cleaned.length > 0 ? decision(cleaned) : settledStatus(rollout, true);
}

function newSetStep({ deployment, old, replicaSets }: Rollout): Step {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
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
  const size = newSize(deployment, [...replicaSets, draft], draft);
  const revision = Math.max(0, ...old.map(revisionOf)) + 1;
  const annotations = { ...setAnnotations(deployment, draft, revision), ...replicaAnnotations(deployment) };
  const set = { ...draft, metadata: { ...draft.metadata, annotations }, spec: { ...draft.spec, replicas: size } };
  return create(
    REPLICA_SETS,
    set,
    size === 0
      ? {}
      : {
          done: (made) => ({
            about: deployment,
            type: "Normal",
            reason: "ScalingReplicaSet",
            message: `Scaled up replica set ${typed(made).metadata.name} from 0 to ${size}`,
          }),
        },
  );
}

/** Old sets beyond the history limit, oldest revisions first. */
function cleanup({ spec }: Deployment, old: readonly Stored<ReplicaSet>[]): Step[] {
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = alive.length - (spec.revisionHistoryLimit ?? 10);
  if (surplus <= 0) return [];
  return [...alive]
    .sort((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b))
    .slice(0, surplus)
    .filter((set) => sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0)
    .filter((set) => (set.metadata.generation ?? 1) <= (set.status?.observedGeneration ?? 0))
    .map((set) => remove(REPLICA_SETS, set));
}

function settledStatus({ deployment, replicaSets, newSet, now }: Rollout, judgesProgress: boolean): Decision {
  const status = deploymentStatus({ deployment, all: replicaSets, newSet, now }, judgesProgress);
  const waitMs = judgesProgress ? judgedAgainInMs(deployment, status, now) : undefined;
  if (equalJson(status, deployment.status ?? {})) return decision([], waitMs);
  return decision([updateStatus(DEPLOYMENTS, { ...deployment, status })], waitMs);
}

/** A new set that cannot be created: its name is taken (the next hash is tried), or the server rejects it. */
export function newSetRefused({ deployment, now }: DeploymentState, name: string, refusal: Status): Decision {
  const before: DeploymentStatus = deployment.status ?? {};
  if (refusal.reason === "AlreadyExists") {
    const status = { ...before, collisionCount: (before.collisionCount ?? 0) + 1 };
    return decision([updateStatus(DEPLOYMENTS, { ...deployment, status })]);
  }
  const message = `Failed to create new replica set "${name}": ${refusal.message ?? ""}`;
  const failed = claim("Progressing", "False", "ReplicaSetCreateError", message);
  const conditions = withDeploymentCondition(before.conditions ?? [], failed, now);
  return decision([
    recordEvent({ about: deployment, type: "Warning", reason: "ReplicaSetCreateError", message }),
    hasDeadline(deployment)
      ? updateStatus(DEPLOYMENTS, { ...deployment, status: { ...before, conditions } })
      : undefined,
  ]);
}
