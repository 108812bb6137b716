import { failedPrecondition, notFound } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import { combineTransactions } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import { layoutDifferences } from "../planner/sizing/layout-changes.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import type {
  Acknowledgement,
  Call,
  DeploymentRequest,
  IdempotencyRecord,
  Idempotent,
  Versioned,
} from "../use-cases.ts";
import { acknowledge, type StartedOperation } from "./acknowledge-deployment.ts";
import type { StagedClaims } from "../stores/collection-claims.ts";
import { assertVersion, desiredPlan, loadSnapshot, type DeploymentSnapshot } from "./deployment-snapshot.ts";
import type { NamedDeployment } from "./planning/gather-plan-input.ts";
import { revisionFault } from "./read-deployment.ts";
import {
  affectedClusters,
  stageDeployment,
  stageRenewal,
  stageRollOut,
  type StageDeps,
  type StagedDeployment,
} from "./stage-deployment.ts";

/** Creates or updates a deployment and waits until every cluster has accepted it. */
export function applyDeployment(
  deps: StageDeps,
  request: DeploymentRequest,
  call: Call,
  { ifVersion, idempotency }: Versioned & Idempotent,
): Promise<Acknowledgement> {
  const stage = (): Promise<StagedDeployment> => stageDeployment(deps, request, call, { ifVersion });
  return commitOnce(deps, request.deployment.key, stage, idempotency);
}

/** Puts the plan of an earlier revision in force again, unit for unit. */
export function rollBackDeployment(
  deps: StageDeps,
  key: DeploymentKey,
  revision: number,
  call: Call,
  { ifVersion, idempotency }: Versioned & Idempotent,
): Promise<Acknowledgement> {
  const { deployments, planning } = deps;
  const stage = async (): Promise<StagedDeployment> => {
    const [snapshot, unpaused] = await Promise.all([loadSnapshot(deps, key), deps.pauses.stageUnpaused(key)]);
    if (snapshot.current === undefined) throw notFound("deployment", key);
    assertVersion(snapshot, ifVersion);
    const [entry, plan] = await Promise.all([deployments.revision(key, revision), deployments.plan(key, revision)]);
    if (entry === undefined || plan === undefined) throw await revisionFault(deployments, key, revision);
    if (snapshot.current.record.desired?.revision === revision) return stageRenewal(deps, snapshot, call);
    const running = await desiredPlan(deployments, snapshot);
    assertSameLayout(plan, running, revision);
    const claims = await stageClaims(deps, snapshot, plan, running);
    const { withdrawn } = entry.record;
    const deployment = entry.record.deployment as NamedDeployment;
    const references = combineTransactions(
      unpaused,
      await deps.freezes.stageUnfrozen(key, affectedClusters(plan, snapshot)),
      await planning.stagePackageReference(deployment),
      await planning.stageClusterReferences(plan, withdrawn),
    );
    const reason = call.reason ?? `rolled back to revision ${revision}`;
    const desired = {
      deployment,
      plan,
      kind: "roll_back",
      withdrawn,
      call: { ...call, reason },
      claims: claims.ids,
    } as const;
    const staged = await stageRollOut(deps, snapshot, desired);
    return { ...staged, references, parts: [...staged.parts, claims.transaction] };
  };
  return commitOnce(deps, key, stage, idempotency);
}

/** Commits what `stage` returns, again on a conflict, and waits for the roll-out. */
export async function commitOnce(
  deps: Pick<StageDeps, "launcher" | "deployments">,
  key: DeploymentKey,
  stage: () => Promise<StagedDeployment>,
  idempotency: IdempotencyRecord | undefined,
): Promise<Acknowledgement> {
  const start = async (): Promise<StartedOperation> => commit(deps, await stage(), idempotency);
  const started = resumed(deps, key, idempotency) ?? (await retryOnConflict(start, idempotency));
  return acknowledge(deps.deployments, key, started);
}

async function commit(
  { launcher }: Pick<StageDeps, "launcher">,
  { key, status, operation, references, parts, running }: StagedDeployment,
  idempotency: IdempotencyRecord | undefined,
): Promise<StartedOperation> {
  if (operation === undefined && parts.length === 0) return { status, ...running };
  const saga = operation?.saga.id;
  const note = idempotency?.stage({ status, ...(saga === undefined ? {} : { saga }) } satisfies OperationNote);
  const also = [references, ...parts, ...(note ? [note] : [])];
  const { launched } = await launcher.commit(operation === undefined ? [] : [operation], also);
  return { status, ...launched.get(key) };
}

/** Stages the claims of an earlier plan. Throws failed-precondition when another deployment uses one of its collections. */
async function stageClaims(
  { claims, planning }: Pick<StageDeps, "claims" | "planning">,
  { key, current }: DeploymentSnapshot,
  plan: DeploymentPlan,
  previous: DeploymentPlan | undefined,
): Promise<StagedClaims> {
  const networks = await planning.networks();
  const staged = await claims.stage(key, plan, { current: current?.record, previous, networks });
  const [taken] = staged.taken;
  if (taken === undefined) return staged;
  throw failedPrecondition(
    `deployment "${key}"`,
    `collection ${taken.collection} is used by deployment ${taken.deployment} in the same data plane network now: apply ` +
      "that revision's deployment with other odgm.collections",
  );
}

/** A rollback keeps the stored objects: their layout changes only with `odgm.allow_layout_change` of a new revision. */
function assertSameLayout(plan: DeploymentPlan, running: DeploymentPlan | undefined, revision: number): void {
  if (running === undefined) return;
  const differences = layoutDifferences(running, plan);
  if (differences.length === 0) return;
  throw failedPrecondition(
    `revision ${revision}`,
    `revision ${revision} would lose all objects of the running class, because ${differences.join(" and ")}: copy them ` +
      "with `oaas state copy`, then apply that revision's deployment with odgm.allow_layout_change to accept the loss",
  );
}

/** The part of the idempotency record that the response needs. */
interface OperationNote {
  readonly status: Acknowledgement["status"];
  /** Absent when no unit had to be sent. */
  readonly saga?: string;
}

/** The operation that an earlier attempt of the same request started; undefined for the first attempt. */
function resumed(
  { launcher }: Pick<StageDeps, "launcher">,
  key: DeploymentKey,
  idempotency: IdempotencyRecord | undefined,
): StartedOperation | undefined {
  if (idempotency?.committed === undefined) return undefined;
  const { status, saga: id } = idempotency.committed.note as OperationNote;
  if (id === undefined) return { status };
  const { revision } = idempotency.committed;
  return { status, outcome: launcher.wait(key, { subject: subjectOf(key), id, revision }) };
}
