import { failedPrecondition, notFound, type Clock } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { Transaction } from "@oaas/storage";
import { assertKnownCluster } from "../clusters/cluster-roster.ts";
import { retryOnConflict } from "../concurrency.ts";
import { ownEntry, type DeploymentPlan } from "../planner/plan-types.ts";
import type { ClusterDirectory } from "../ports.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { markDeleted, withdrawFromCluster } from "../records/desired-deployment.ts";
import { adoptUnaccountedUnits, type UnaccountedUnit } from "../records/unaccounted-unit.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import { UNDEPLOY_CLASS, undeploySaga, withdrawSaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import type { Call, Deletion, Versioned } from "../use-cases.ts";
import { assertVersion, loadSnapshot, runningSaga, type DeploymentSnapshot } from "./deployment-snapshot.ts";
import type { StoredFreezeCalendar } from "./freeze-calendar.ts";
import type { NamedDeployment } from "./planning/gather-plan-input.ts";
import type { Launched, SagaLauncher } from "./saga-launcher.ts";

export interface RemoveDeps {
  readonly deployments: DeploymentStore;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly policy: RolloutPolicy;
  readonly clock: Clock;
}

export interface RemoveInClusterDeps extends RemoveDeps {
  readonly freezes: Pick<StoredFreezeCalendar, "stageUnfrozen">;
  readonly unaccounted: Pick<UnaccountedUnits, "ofDeployment">;
  readonly clusters: Pick<ClusterDirectory, "get" | "list">;
}

/** Deletes a deployment in all clusters or in one; the deletion is durable before the first call to a cluster. */
export async function removeDeployment(
  deps: RemoveInClusterDeps,
  key: DeploymentKey,
  call: Call,
  { ifVersion, cluster }: Versioned & { readonly cluster?: ClusterName },
): Promise<Deletion> {
  const launched = await retryOnConflict(async () => {
    const [snapshot, unaccounted] = await Promise.all([loadSnapshot(deps, key), deps.unaccounted.ofDeployment(key)]);
    assertVersion(snapshot, ifVersion);
    const record = adoptUnaccountedUnits(key, snapshot.current?.record, unaccounted, deps.clock.now());
    if (record === undefined) throw notFound("deployment", key);
    if (cluster !== undefined) assertAccounted(snapshot, cluster, unaccounted);
    const clusters = placementEntries(record).flatMap(([name]) =>
      cluster === undefined || name === cluster ? [name] : [],
    );
    // A deletion that is in progress continues.
    const unfrozen = record.deletion === undefined ? await deps.freezes.stageUnfrozen(key, clusters) : { writes: [] };
    if (cluster === undefined || snapshot.current === undefined || isLastCluster(record, cluster))
      return removeEverywhere(deps, snapshot, record, { call, unfrozen });
    return removeInCluster(deps, snapshot, record, { cluster, call, unfrozen });
  });
  if (launched === undefined) {
    // A cluster that is no longer registered may be named while something of the deployment may be left in it.
    if (cluster !== undefined) assertKnownCluster(deps.clusters, cluster);
    return { status: "deleted", deleted: [], pending: [], message: `"${key}" is not in ${cluster}; nothing to delete` };
  }
  return deletionResult(deps, key, launched, cluster);
}

/** Commits the deletion of a deployment without waiting for it; a deletion that is in progress is left alone. */
export async function startRemoval(deps: RemoveDeps, key: DeploymentKey, call: Call): Promise<void> {
  await retryOnConflict(async () => {
    const snapshot = await loadSnapshot(deps, key);
    if (snapshot.current === undefined) throw notFound("deployment", key);
    const { record } = snapshot.current;
    if (record.deletion === undefined) await removeEverywhere(deps, snapshot, record, { call });
  });
}

/** Rejects the removal in one cluster while others run units that the store does not record: they would become surplus. */
function assertAccounted(
  { key, current }: DeploymentSnapshot,
  cluster: ClusterName,
  units: readonly UnaccountedUnit[],
): void {
  const others = units
    .map((unit) => unit.cluster)
    .filter((other) => other !== cluster && current?.record.placements[other] === undefined);
  if (others.length === 0) return;
  throw failedPrecondition(
    `deployment "${key}"`,
    `"${key}" also runs in ${others.join(", ")}, which the store does not record, as after a restore of an older ` +
      "backup: apply the deployment again first, or delete it in all clusters",
  );
}

async function removeEverywhere(
  { deployments, launcher, policy, clock }: RemoveDeps,
  snapshot: DeploymentSnapshot,
  known: DeploymentRecord,
  { call, unfrozen = { writes: [] } }: { readonly call: Call; readonly unfrozen?: Transaction },
): Promise<Launched> {
  const isDeletion = known.deletion !== undefined;
  const running = isDeletion ? launcher.join(snapshot) : undefined;
  if (running !== undefined) return running;
  const record = isDeletion ? known : markDeleted(known, call, clock.now());
  const saga = undeploySaga(record, policy, { by: call.caller, correlationId: call.correlationId });
  return launcher.launch(snapshot, saga, [
    unfrozen,
    deployments.stagePut(snapshot.key, snapshot.current, record),
    ...(isDeletion ? [] : await stageDeletedEntry({ deployments, launcher }, snapshot, call)),
  ]);
}

/** Records in the history entry in force who deleted the deployment; readable until the last unit is removed. */
async function stageDeletedEntry(
  { deployments, launcher }: Pick<RemoveDeps, "deployments" | "launcher">,
  snapshot: DeploymentSnapshot,
  { caller, reason }: Call,
): Promise<readonly Transaction[]> {
  const superseded =
    runningSaga(snapshot) === undefined ? [] : await launcher.stageSuperseded(snapshot, `a deletion by ${caller}`);
  const desired = snapshot.current?.record.desired;
  if (superseded.length > 0 || desired === undefined) return superseded;
  const entry = await deployments.revision(snapshot.key, desired.revision);
  if (entry === undefined) return [];
  const text = `deleted by ${caller}${reason === undefined ? "" : `: ${reason}`}`;
  return [deployments.stageOutcome(entry, { ...entry.record, clusters: { ...entry.record.clusters, "*": text } })];
}

/** Undefined when the deployment has nothing in the cluster. */
async function removeInCluster(
  { deployments, launcher, policy, clock }: RemoveDeps,
  snapshot: DeploymentSnapshot,
  record: DeploymentRecord,
  { cluster, call, unfrozen }: { readonly cluster: ClusterName; readonly call: Call; readonly unfrozen: Transaction },
): Promise<Launched | undefined> {
  const { key, current } = snapshot;
  const { desired } = record;
  const placement = record.placements[cluster];
  if (placement === undefined) return undefined;
  const requester = { by: call.caller, correlationId: call.correlationId };
  if (placement.state === "withdrawn" || desired === undefined) {
    // The removal was requested before: retry it without a new revision.
    const put = deployments.stagePut(key, current, record);
    return launcher.join(snapshot) ?? launcher.launch(snapshot, withdrawSaga(record, policy, requester), [put]);
  }
  const [entry, plan] = await Promise.all([
    deployments.revision(key, desired.revision),
    deployments.plan(key, desired.revision),
  ]);
  if (entry === undefined || plan === undefined) throw notFound("deployment revision", `${key} ${desired.revision}`);
  assertNoMember(snapshot, plan, cluster);
  const revised = withdrawFromCluster(record, cluster, entry.record, {
    deployment: entry.record.deployment as NamedDeployment,
    plan,
    call: { ...call, reason: call.reason ?? `deleted in ${cluster}` },
    nowMs: clock.now(),
  });
  const saga = withdrawSaga(revised.record, policy, requester);
  return launcher.commitRevision(snapshot, { ...revised, plan, saga }, [unfrozen]);
}

/** Rejects the removal of copies of objects: the state store of a running class loses its members only by permission. */
function assertNoMember(
  { key, current }: DeploymentSnapshot,
  { odgm }: Pick<DeploymentPlan, "odgm">,
  cluster: ClusterName,
): void {
  const isPermitted = current?.record.deployment.odgm?.allowLayoutChange === true;
  if (isPermitted || ownEntry(odgm?.nodeIds, cluster) === undefined) return;
  throw failedPrecondition(
    `deployment "${key}"`,
    `"${key}" has copies of its objects in ${cluster}, and the nodes of a state store are fixed while it runs: copy the ` +
      "objects with `oaas state copy` and apply the deployment with target_clusters without it and " +
      "odgm.allow_layout_change: true, or delete the deployment in all clusters",
  );
}

/** Whether the removal from this cluster leaves the deployment without any cluster. */
function isLastCluster(record: DeploymentRecord, cluster: ClusterName): boolean {
  if (record.deletion !== undefined) return Object.hasOwn(record.placements, cluster);
  const wanted = placementEntries(record).filter(([, { state }]) => state === "wanted");
  return wanted.length === 1 && wanted[0]?.[0] === cluster;
}

async function deletionResult(
  deps: RemoveDeps,
  key: DeploymentKey,
  launched: Launched,
  cluster: ClusterName | undefined,
): Promise<Deletion> {
  const result = await launched.outcome;
  if (result.state === "ended") return deletionOf(key, result.saga, cluster);
  if (result.state === "gone") {
    return { status: "deleted", deleted: [], pending: [], message: `deployment "${key}" is deleted` };
  }
  // The deletion is durable: a store that fails now must not turn the response into an error.
  const snapshot = await loadSnapshot(deps, key).catch(() => undefined);
  const deleted = snapshot?.saga?.record.id === launched.id ? removedBy(snapshot.saga.record) : [];
  const left = Object.keys(snapshot?.current?.record.placements ?? {}) as ClusterName[];
  const pending = left.filter((name) => !deleted.includes(name) && (cluster === undefined || name === cluster));
  if (cluster !== undefined && deleted.includes(cluster)) {
    return {
      status: "deleted",
      deleted: [cluster],
      pending: [],
      message: `deployment "${key}" is deleted in ${cluster}`,
    };
  }
  const where = pending.length === 0 ? "" : `: waiting for ${pending.join(", ")}`;
  const message = result.state === "superseded" ? "superseded by a newer request" : `the deletion continues${where}`;
  return { status: "accepted", deleted, pending, message };
}

function removedBy({ steps }: SagaRecord): readonly ClusterName[] {
  return steps.flatMap(({ action, state, target }) =>
    action === "remove" && state === "done" ? [target as ClusterName] : [],
  );
}

function deletionOf(key: DeploymentKey, saga: SagaRecord, cluster: ClusterName | undefined): Deletion {
  const isWhole = saga.kind === UNDEPLOY_CLASS;
  const removals = saga.steps.filter(({ action, target }) => action === "remove" && (isWhole || target === cluster));
  const names = (done: boolean): ClusterName[] =>
    removals.filter(({ state }) => (state === "done") === done).map(({ target }) => target as ClusterName);
  const pending = names(false);
  const message =
    pending.length === 0
      ? `deployment "${key}" is deleted${cluster === undefined ? "" : ` in ${cluster}`}`
      : `deployment "${key}" is deleted except in ${pending.join(", ")}; it is deleted there when they are reachable again`;
  return { status: pending.length === 0 ? "deleted" : "accepted", deleted: names(true), pending, message };
}
