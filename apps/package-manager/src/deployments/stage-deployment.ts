import { Fault, invalidArgument, type Clock } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, DeploymentKey, RolloutGate } from "@oaas/models";
import { combineTransactions, type Transaction } from "@oaas/storage";
import { maskedInDeployment } from "../masking/mask-settings.ts";
import type { CompletePlan, DeploymentPlan, UsedCollection } from "../planner/plan-types.ts";
import { placementEntries } from "../records/deployment-record.ts";
import { applyDesired, renewUnitRevision, specDigest, type DesiredDeployment } from "../records/desired-deployment.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { deploySaga, renewalSaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { UnitSender } from "../sagas/unit-sender.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import type { Call, DeploymentRequest, Versioned } from "../use-cases.ts";
import {
  assertVersion,
  desiredEntry,
  desiredPlan,
  loadSnapshot,
  type DeploymentSnapshot,
} from "./deployment-snapshot.ts";
import type { CollectionClaims } from "../stores/collection-claims.ts";
import type { DeploymentPauses } from "./deployment-pauses.ts";
import type { StoredFreezeCalendar } from "./freeze-calendar.ts";
import type { PackageSource } from "./planning/gather-plan-input.ts";
import type { Planning } from "./planning/planning.ts";
import type { Launched, SagaLauncher, StagedOperation } from "./saga-launcher.ts";

export interface StageDeps {
  readonly deployments: DeploymentStore;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly planning: Planning;
  readonly sender: Pick<UnitSender, "digest">;
  readonly pauses: Pick<DeploymentPauses, "stageUnpaused">;
  readonly freezes: Pick<StoredFreezeCalendar, "stageUnfrozen">;
  readonly unaccounted: Pick<UnaccountedUnits, "ofDeployment">;
  readonly claims: Pick<CollectionClaims, "stage">;
  readonly policy: RolloutPolicy;
  readonly clock: Clock;
}

/** A deployment that is ready to be committed, alone or with others. */
export interface StagedDeployment {
  readonly key: DeploymentKey;
  readonly status: "created" | "updated" | "unchanged";
  /** The revision of the deployment after the commit. */
  readonly revision: number;
  /** The plan of the request; absent for a rollback. */
  readonly plan?: CompletePlan;
  /** The plan in force before. */
  readonly previous?: DeploymentPlan | undefined;
  /** References to packages and clusters. Those of several deployments may write the same keys. */
  readonly references: Transaction;
  /** The change and its saga; absent when nothing has to be sent. */
  readonly operation?: StagedOperation;
  /** Other writes. */
  readonly parts: readonly Transaction[];
  /** Ids of the claims of collections that it creates. */
  readonly claimed: readonly string[];
  /** A saga that is running already and that the caller waits for. */
  readonly running?: Launched;
}

export interface StageOptions extends Versioned {
  /** Replaces the registered packages by those of the same transaction. */
  readonly packages?: PackageSource | undefined;
  /** Collections that are used although the view does not show it yet. */
  readonly taken?: readonly UsedCollection[];
}

/**
 * Validates and plans a deployment, and stages its next revision. `packages` replaces the registered packages by those of
 * the same transaction. A dry run and a write stage the same, so that both accept the same deployments.
 */
export async function stageDeployment(
  deps: StageDeps,
  request: DeploymentRequest,
  call: Call,
  { ifVersion, packages, taken = [] }: StageOptions = {},
): Promise<StagedDeployment> {
  const { deployments, planning } = deps;
  const { key } = request.deployment;
  const masked = maskedInDeployment(request.deployment);
  if (masked.length > 0) throw invalidArgument(`deployment "${key}"`, masked);
  const [snapshot, unpaused] = await Promise.all([loadSnapshot(deps, key), deps.pauses.stageUnpaused(key)]);
  assertVersion(snapshot, ifVersion);
  if (request.isKeyDerived === true) assertSameClass(snapshot, request.deployment);
  const previous = await desiredPlan(deployments, snapshot);
  const planned = await planning.plan(
    request,
    {
      plan: previous,
      placements: snapshot.current?.record.placements,
      deployment: snapshot.current?.record.deployment,
      taken,
    },
    packages,
  );
  const { plan, deployment, networks } = planned;
  if (request.planDigest !== undefined) planning.assertCurrent(plan, request.planDigest);
  const entry = await desiredEntry(deployments, snapshot);
  const isUnchanged = entry?.planDigest === plan.digest && entry.digest === specDigest(deployment);
  if (isUnchanged && entry.withdrawn.length === 0)
    return { ...(await stageRenewal(deps, snapshot, call)), plan, previous };
  const current = snapshot.current?.record;
  const claims = await deps.claims.stage(key, plan, { current, previous, networks });
  if (claims.taken.length > 0) {
    return stageDeployment(deps, request, call, { ifVersion, packages, taken: [...taken, ...claims.taken] });
  }
  const references = combineTransactions(
    unpaused,
    await deps.freezes.stageUnfrozen(key, affectedClusters(plan, snapshot)),
    planned.packageReference,
    await planning.stageClusterReferences(plan),
  );
  const desired = { deployment, plan, kind: "deploy", withdrawn: [], call, claims: claims.ids } as const;
  const staged = await stageRollOut(deps, snapshot, desired);
  return {
    ...staged,
    plan,
    previous,
    references,
    claimed: claims.created,
    parts: [...staged.parts, claims.transaction],
  };
}

/** The clusters that a plan changes: those that it uses, and those that have a unit now. */
export function affectedClusters(
  { units }: DeploymentPlan,
  { current }: Pick<DeploymentSnapshot, "current">,
): readonly ClusterName[] {
  const present = current === undefined ? [] : placementEntries(current.record).map(([cluster]) => cluster);
  return [...new Set([...units.map(({ cluster }) => cluster), ...present])].toSorted();
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

/** Stages the next revision of a deployment with its plan and the saga that rolls it out. */
export async function stageRollOut(
  { sender, clock, policy, launcher }: Pick<StageDeps, "sender" | "clock" | "policy" | "launcher">,
  snapshot: DeploymentSnapshot,
  { gate, ...desired }: Omit<DesiredDeployment, "digests" | "nowMs"> & { readonly gate?: RolloutGate | undefined },
): Promise<Omit<StagedDeployment, "plan" | "references">> {
  const { plan, kind, call } = desired;
  const digests = Object.fromEntries(plan.units.map((unit) => [unit.cluster, sender.digest(plan, unit)])) as Record<
    ClusterName,
    string
  >;
  const { record, entry } = applyDesired(snapshot.current?.record, { ...desired, digests, nowMs: clock.now() });
  const requester = { by: call.caller, correlationId: call.correlationId, gate };
  const saga = deploySaga(record, kind === "roll_back" ? "roll_back" : "deploy", policy, requester);
  const isNew = snapshot.current === undefined || snapshot.current.record.deletion !== undefined;
  const operation = await launcher.stageRevision(snapshot, { record, entry, plan, saga });
  return {
    key: snapshot.key,
    status: isNew ? "created" : "updated",
    revision: entry.revision,
    operation,
    parts: [],
    claimed: [],
  };
}

/** Stages an unchanged spec: nothing is written or sent unless units are missing, rejected or left over. */
export async function stageRenewal(
  { deployments, clock, policy, launcher, unaccounted }: StageDeps,
  snapshot: DeploymentSnapshot,
  call: Call,
): Promise<StagedDeployment> {
  const current = snapshot.current as NonNullable<DeploymentSnapshot["current"]>;
  const { key } = snapshot;
  const unchanged = {
    key,
    status: "unchanged",
    revision: current.record.revision,
    references: NOTHING,
    claimed: [],
  } as const;
  const running = launcher.join(snapshot);
  if (running !== undefined) return { ...unchanged, parts: [], running };
  const record = renewUnitRevision(current.record, clock.now());
  const saga = renewalSaga(record, policy, { by: call.caller, correlationId: call.correlationId });
  const put = deployments.stagePut(key, current, record);
  if (saga !== undefined) return { ...unchanged, parts: [], operation: await launcher.stage(snapshot, saga, [put]) };
  // With the higher revision, the drift reconciler treats unaccounted units of the deployment as surplus.
  const isLeftOver = (await unaccounted.ofDeployment(key)).length > 0;
  return { ...unchanged, parts: isLeftOver ? [put] : [] };
}

const NOTHING: Transaction = { writes: [] };
