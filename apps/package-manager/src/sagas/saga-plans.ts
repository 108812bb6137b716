import { RolloutFailure, RolloutGate, RolloutStrategy, type ClusterName, type Rollout } from "@oaas/models";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { isPermanent } from "../records/deployment-outcome.ts";
import { subjectOf, type DeploymentSagaData } from "../records/deployment-saga.ts";
import type { FailurePolicy, NewSaga } from "../saga-engine/saga.ts";

export const DEPLOY_CLASS = "deploy-class";
export const UNDEPLOY_CLASS = "undeploy-class";

const NO_CLUSTERS: ReadonlySet<string> = new Set();

/** Defaults of roll-outs. */
export interface RolloutPolicy {
  /** Clusters changed at the same time when the deployment does not set it. */
  readonly fanOut: number;
  /** Undo everything when one cluster fails (`DEPLOY_ROLLBACK_ON_PARTIAL`). */
  readonly rollBackOnPartial: boolean;
}

export interface Requester {
  readonly by: string;
  readonly correlationId: string;
}

/** The saga that rolls out a new revision; `gate` overrides the one of the roll-out. */
export function deploySaga(
  record: DeploymentRecord,
  operation: "deploy" | "roll_back",
  policy: RolloutPolicy,
  { gate, ...requester }: Requester & { readonly gate?: RolloutGate | undefined },
): NewSaga {
  const { rollout, key } = record.deployment;
  return {
    kind: DEPLOY_CLASS,
    subject: subjectOf(key),
    steps: stepsFor(record),
    ...paceOf(record, rollout, policy),
    data: dataOf(record, operation, requester, gate ?? rollout?.gate ?? RolloutGate.accepted),
  };
}

/**
 * The saga that restores the desired state; undefined when there is nothing to do.
 *
 * Clusters in `excluded` are left out, and permanently rejected units are not retried.
 */
export function repairSaga(
  record: DeploymentRecord,
  excluded: ReadonlySet<string>,
  policy: RolloutPolicy,
  requester: Requester,
): NewSaga | undefined {
  const isDeletion = record.deletion !== undefined;
  const steps = (isDeletion ? removals(record) : stepsFor(record)).filter(({ target }) => !excluded.has(target));
  if (steps.length === 0 && !(isDeletion && Object.keys(record.placements).length === 0)) return undefined;
  return {
    kind: isDeletion ? UNDEPLOY_CLASS : DEPLOY_CLASS,
    subject: subjectOf(record.deployment.key),
    steps,
    parallel: policy.fanOut,
    onFailure: "go-on",
    data: dataOf(record, isDeletion ? "delete" : "repair", requester, RolloutGate.accepted),
  };
}

/** The saga for an unchanged spec that is applied again. It follows the roll-out, so that applying twice skips no gate. */
export function renewalSaga(
  record: DeploymentRecord,
  policy: RolloutPolicy,
  requester: Requester,
): NewSaga | undefined {
  const repair = repairSaga(record, NO_CLUSTERS, policy, requester);
  const { rollout } = record.deployment;
  if (repair === undefined || record.deletion !== undefined || rollout?.strategy !== RolloutStrategy.rolling)
    return repair;
  return {
    ...repair,
    ...paceOf(record, rollout, policy),
    data: dataOf(record, "repair", requester, rollout.gate),
  };
}

/**
 * The saga that removes a deployment from the clusters it was withdrawn from.
 *
 * It also continues an unfinished rolling roll-out, with its gate, after the removals. On failure it stops, even when the
 * roll-out says roll back: undoing would restore the units that were just removed.
 */
export function withdrawSaga(record: DeploymentRecord, policy: RolloutPolicy, requester: Requester): NewSaga {
  const { rollout, key } = record.deployment;
  const isRolling = rollout?.strategy === RolloutStrategy.rolling;
  const { parallel, onFailure } = paceOf(record, isRolling ? rollout : undefined, policy);
  return {
    kind: DEPLOY_CLASS,
    subject: subjectOf(key),
    steps: stepsFor(record).toSorted((a, b) => a.stage - b.stage || orderOf(a) - orderOf(b)),
    parallel,
    onFailure: isRolling && onFailure !== "go-on" ? "stop" : "go-on",
    data: dataOf(record, "delete", requester, isRolling ? rollout.gate : RolloutGate.accepted),
  };
}

function orderOf({ action }: PlannedStep): number {
  return action === "remove" ? 0 : 1;
}

/** The saga that removes a deployment from every cluster. */
export function undeploySaga(record: DeploymentRecord, policy: RolloutPolicy, requester: Requester): NewSaga {
  return {
    kind: UNDEPLOY_CLASS,
    subject: subjectOf(record.deployment.key),
    steps: removals(record),
    parallel: policy.fanOut,
    onFailure: "go-on",
    data: dataOf(record, "delete", requester, RolloutGate.accepted),
  };
}

type PlannedStep = NewSaga["steps"][number];

function removals(record: DeploymentRecord): readonly PlannedStep[] {
  return placementEntries(record).map(([cluster]) => removal(cluster, 0));
}

/** Sends missing units in plan order, removes withdrawn ones, and last, when no wanted unit is missing, leaving ones. */
function stepsFor(record: DeploymentRecord): readonly PlannedStep[] {
  const placements = placementEntries(record);
  const { selectedClusters } = record.summary;
  const wanted = placements.filter(([, { state }]) => state === "wanted");
  const sent = wanted
    .filter(([, { accepted, fault }]) => !accepted && (fault === undefined || !isPermanent(fault)))
    .toSorted(([a], [b]) => selectedClusters.indexOf(a) - selectedClusters.indexOf(b));
  const isComplete = wanted.every((each) => each[1].accepted || sent.includes(each));
  return [
    ...sent.map(([cluster]) => ({ id: `send:${cluster}`, action: "send", target: cluster, stage: 0 })),
    ...placements.flatMap(([cluster, { state }]) => (state === "withdrawn" ? [removal(cluster, 0)] : [])),
    ...placements.flatMap(([cluster, { state }]) => (state === "leaving" && isComplete ? [removal(cluster, 1)] : [])),
  ];
}

/** An unreachable cluster keeps its placement as a tombstone; it must not block or undo the other steps. */
function removal(cluster: ClusterName, stage: number): PlannedStep {
  return { id: `remove:${cluster}`, action: "remove", target: cluster, stage, mayFail: true };
}

function dataOf(
  record: DeploymentRecord,
  operation: DeploymentSagaData["operation"],
  { by, correlationId }: Requester,
  gate: RolloutGate,
): DeploymentSagaData {
  const { desired, stable, unitRevision, deployment } = record;
  return {
    key: deployment.key,
    operation,
    ...(desired === undefined ? {} : { target: desired }),
    ...(stable === undefined ? {} : { fallback: stable }),
    lastRevision: unitRevision,
    ...namespacesIn(record),
    gate,
    by,
    correlationId,
  };
}

function namespacesIn(record: DeploymentRecord): Pick<DeploymentSagaData, "namespaces"> {
  const known = placementEntries(record).flatMap(([cluster, { namespace }]) =>
    namespace === undefined ? [] : [[cluster, namespace] as const],
  );
  return known.length === 0 ? {} : { namespaces: Object.fromEntries(known) };
}

function paceOf(
  record: DeploymentRecord,
  rollout: Rollout | undefined,
  policy: RolloutPolicy,
): Pick<NewSaga, "parallel" | "onFailure"> {
  const isRolling = rollout?.strategy === RolloutStrategy.rolling;
  return {
    parallel: isRolling ? Math.max(rollout.maxParallel ?? 1, startedTogether(record)) : policy.fanOut,
    onFailure: failurePolicy(rollout, policy),
  };
}

/**
 * Clusters that a roll-out has to start together. No unit of a new state store with members in several clusters becomes
 * available before a majority of the clusters runs.
 */
function startedTogether({ collections = [], desired, stable, placements }: DeploymentRecord): number {
  const isNew = stable === undefined || stable.revision === desired?.revision;
  return isNew && collections.length > 0 ? Object.keys(placements).length : 1;
}

function failurePolicy(rollout: Rollout | undefined, policy: RolloutPolicy): FailurePolicy {
  if (policy.rollBackOnPartial) return "undo";
  if (rollout === undefined || rollout.gate === RolloutGate.none) return "go-on";
  if (rollout.onFailure === RolloutFailure.rollBack) return "undo";
  return rollout.strategy === RolloutStrategy.rolling ? "stop" : "go-on";
}
