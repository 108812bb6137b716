import { failedPrecondition, Fault, invalidArgument, notFound, type Clock } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, DeploymentKey } from "@oaas/models";
import { combineTransactions, type KeyValueStore, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import { maskedInDeployment } from "../masking/mask-settings.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import { layoutChanges } from "../planner/sizing/state-layout.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import { applyDesired, renewUnitRevision, specDigest, type DesiredDeployment } from "../records/desired-deployment.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { deploySaga, renewalSaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { UnitSender } from "../sagas/unit-sender.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import type {
  Acknowledgement,
  Call,
  DeploymentRequest,
  IdempotencyRecord,
  Idempotent,
  Versioned,
} from "../use-cases.ts";
import { acknowledge, type StartedOperation } from "./acknowledge-deployment.ts";
import {
  assertVersion,
  desiredEntry,
  desiredPlan,
  loadSnapshot,
  type DeploymentSnapshot,
} from "./deployment-snapshot.ts";
import type { NamedDeployment } from "./planning/gather-plan-input.ts";
import type { Planning } from "./planning/planning.ts";
import { revisionFault } from "./read-deployment.ts";
import type { SagaLauncher, StageIdempotency } from "./saga-launcher.ts";

export interface ApplyDeps {
  readonly store: Pick<KeyValueStore, "commit">;
  readonly deployments: DeploymentStore;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly planning: Planning;
  readonly sender: Pick<UnitSender, "digest">;
  readonly unaccounted: Pick<UnaccountedUnits, "ofDeployment">;
  readonly policy: RolloutPolicy;
  readonly clock: Clock;
}

/** Creates or updates a deployment and waits until every cluster has accepted it. */
export async function applyDeployment(
  deps: ApplyDeps,
  request: DeploymentRequest,
  call: Call,
  { ifVersion, idempotency }: Versioned & Idempotent,
): Promise<Acknowledgement> {
  const { deployments, planning } = deps;
  const { key } = request.deployment;
  const masked = maskedInDeployment(request.deployment);
  if (masked.length > 0) throw invalidArgument(`deployment "${key}"`, masked);
  const start = async (): Promise<StartedOperation> => {
    const snapshot = await loadSnapshot(deps, key);
    assertVersion(snapshot, ifVersion);
    if (request.isKeyDerived === true) assertSameClass(snapshot, request.deployment);
    const planned = await planning.plan(request, await desiredPlan(deployments, snapshot));
    const { plan, deployment } = planned;
    if (request.planDigest !== undefined) planning.assertCurrent(plan, request.planDigest);
    const entry = await desiredEntry(deployments, snapshot);
    const isUnchanged = entry?.planDigest === plan.digest && entry.digest === specDigest(deployment);
    if (isUnchanged && entry.withdrawn.length === 0) return reapply(deps, snapshot, call, idempotency);
    const references = combineTransactions(planned.packageReference, await planning.stageClusterReferences(plan));
    const desired = { deployment, plan, kind: "deploy", withdrawn: [], call } as const;
    return rollOut(deps, snapshot, { desired, references, idempotency });
  };
  return acknowledge(deployments, key, resumed(deps, key, idempotency) ?? (await retryOnConflict(start, idempotency)));
}

/** Puts the plan of an earlier revision in force again, unit for unit. */
export async function rollBackDeployment(
  deps: ApplyDeps,
  key: DeploymentKey,
  revision: number,
  call: Call,
  { ifVersion, idempotency }: Versioned & Idempotent,
): Promise<Acknowledgement> {
  const { deployments, planning } = deps;
  const start = async (): Promise<StartedOperation> => {
    const snapshot = await loadSnapshot(deps, key);
    if (snapshot.current === undefined) throw notFound("deployment", key);
    assertVersion(snapshot, ifVersion);
    const [entry, plan] = await Promise.all([deployments.revision(key, revision), deployments.plan(key, revision)]);
    if (entry === undefined || plan === undefined) throw await revisionFault(deployments, key, revision);
    if (snapshot.current.record.desired?.revision === revision) return reapply(deps, snapshot, call, idempotency);
    assertSameLayout(plan, await desiredPlan(deployments, snapshot), revision);
    const { withdrawn } = entry.record;
    const deployment = entry.record.deployment as NamedDeployment;
    const references = combineTransactions(
      await planning.stagePackageReference(deployment),
      await planning.stageClusterReferences(plan, withdrawn),
    );
    const reason = call.reason ?? `rolled back to revision ${revision}`;
    const desired = { deployment, plan, kind: "roll_back", withdrawn, call: { ...call, reason } } as const;
    return rollOut(deps, snapshot, { desired, references, idempotency });
  };
  return acknowledge(deployments, key, resumed(deps, key, idempotency) ?? (await retryOnConflict(start, idempotency)));
}

/** Two classes can derive the same key from their names; the second must not replace the first. */
function assertSameClass({ key, current }: DeploymentSnapshot, { packageName, classKey }: ClassDeployment): void {
  const deployed = current?.record.deployment;
  if (deployed === undefined || (deployed.packageName === packageName && deployed.classKey === classKey)) return;
  throw new Fault(
    { kind: "already-exists", resource: "deployment", name: key },
    `deployment "${key}" belongs to class ${deployed.packageName}.${deployed.classKey}; use another deployment_key`,
  );
}

/** A rollback keeps the stored objects: their layout changes only with `odgm.allow_layout_change` of a new revision. */
function assertSameLayout(plan: DeploymentPlan, running: DeploymentPlan | undefined, revision: number): void {
  if (running?.odgm === undefined) return;
  const changes =
    plan.odgm === undefined
      ? ["it has no state store"]
      : layoutChanges(running.odgm, plan.odgm).map(({ text }) => text);
  if (changes.length === 0) return;
  throw failedPrecondition(
    `revision ${revision}`,
    `revision ${revision} stores objects in another layout: ${changes.join("; ")}. Objects that are already stored would be ` +
      "unreachable; apply that revision's deployment with odgm.allow_layout_change to accept the loss",
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
  { launcher }: ApplyDeps,
  key: DeploymentKey,
  idempotency: IdempotencyRecord | undefined,
): StartedOperation | undefined {
  if (idempotency?.committed === undefined) return undefined;
  const { status, saga: id } = idempotency.committed.note as OperationNote;
  if (id === undefined) return { status };
  const { revision } = idempotency.committed;
  return { status, outcome: launcher.wait(key, { subject: subjectOf(key), id, revision }) };
}

function stageNote(
  idempotency: IdempotencyRecord | undefined,
  status: OperationNote["status"],
): StageIdempotency | undefined {
  return idempotency && ((saga) => idempotency.stage({ status, saga } satisfies OperationNote));
}

interface RollOutRequest extends Idempotent {
  readonly desired: Omit<DesiredDeployment, "digests" | "nowMs">;
  readonly references: Transaction;
}

async function rollOut(
  { sender, clock, policy, launcher }: ApplyDeps,
  snapshot: DeploymentSnapshot,
  { desired, references, idempotency }: RollOutRequest,
): Promise<StartedOperation> {
  const { plan, kind, call } = desired;
  const digests = Object.fromEntries(plan.units.map((unit) => [unit.cluster, sender.digest(plan, unit)])) as Record<
    ClusterName,
    string
  >;
  const { record, entry } = applyDesired(snapshot.current?.record, { ...desired, digests, nowMs: clock.now() });
  const requester = { by: call.caller, correlationId: call.correlationId };
  const saga = deploySaga(record, kind === "roll_back" ? "roll_back" : "deploy", policy, requester);
  const isNew = snapshot.current === undefined || snapshot.current.record.deletion !== undefined;
  const status = isNew ? "created" : "updated";
  const revision = { record, entry, plan, saga, references };
  return { status, ...(await launcher.commitRevision(snapshot, revision, stageNote(idempotency, status))) };
}

/** Applies an unchanged spec: nothing is written or sent unless units are missing, rejected or left over. */
async function reapply(
  { store, deployments, clock, policy, launcher, unaccounted }: ApplyDeps,
  snapshot: DeploymentSnapshot,
  call: Call,
  idempotency: IdempotencyRecord | undefined,
): Promise<StartedOperation> {
  const status = "unchanged";
  const running = launcher.join(snapshot);
  if (running !== undefined) return { status, ...running };
  const current = snapshot.current as NonNullable<DeploymentSnapshot["current"]>;
  const record = renewUnitRevision(current.record, clock.now());
  const requester = { by: call.caller, correlationId: call.correlationId };
  const saga = renewalSaga(record, policy, requester);
  const put = deployments.stagePut(snapshot.key, current, record);
  if (saga !== undefined)
    return { status, ...(await launcher.launch(snapshot, saga, [put], stageNote(idempotency, status))) };
  // With the higher revision, the drift reconciler treats unaccounted units of the deployment as surplus.
  if ((await unaccounted.ofDeployment(snapshot.key)).length > 0)
    await store.commit(
      idempotency === undefined ? put : combineTransactions(put, idempotency.stage({ status } satisfies OperationNote)),
    );
  return { status };
}
