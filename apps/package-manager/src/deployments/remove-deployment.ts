import { failedPrecondition, notFound } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { assertKnownCluster } from "../clusters/known-cluster.ts";
import type { Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import { UNDEPLOY_CLASS, undeploySaga, withdrawSaga } from "../sagas/saga-plans.ts";
import type { Call, Deletion, Versioned } from "../use-cases.ts";
import {
  assertVersion,
  awaited,
  launch,
  putInForce,
  loadSnapshot,
  superseded,
  underWay,
  type DeploymentContext,
  type Launched,
  type DeploymentSnapshot,
} from "./context.ts";
import { adoptUnaccountedUnits } from "../records/unaccounted-unit.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { NamedDeployment } from "./planning/gather-plan-input.ts";
import type { UnaccountedUnit } from "../records/unaccounted-unit.ts";
import { deleted, withdrawn } from "../records/desired-deployment.ts";

/** Deletes a deployment, whole or in one cluster; durable before the first cluster hears of it. */
export async function removeDeployment(
  context: DeploymentContext,
  key: DeploymentKey,
  call: Call,
  { ifVersion, cluster }: Versioned & { readonly cluster?: ClusterName },
): Promise<Deletion> {
  const begun = await retryOnConflict(async () => {
    const [at, unaccounted] = await Promise.all([loadSnapshot(context, key), context.unaccounted.ofDeployment(key)]);
    assertVersion(at, ifVersion);
    const record = adoptUnaccountedUnits(key, at.current?.record, unaccounted, context.ambient.clock.now());
    if (record === undefined) throw notFound("deployment", key);
    if (cluster !== undefined) assertAccounted(at, cluster, unaccounted);
    if (cluster === undefined || at.current === undefined || isLast(record, cluster))
      return removeWhole(context, at, record, call);
    return removeFrom(context, at, record, cluster, call);
  });
  if (begun === undefined) {
    // One that was forgotten since may be named as long as something may be left there.
    if (cluster !== undefined) assertKnownCluster(context.clusters, cluster);
    return { status: "deleted", deleted: [], pending: [], message: `"${key}" is not in ${cluster}; nothing to delete` };
  }
  return answer(context, key, begun, cluster);
}

/** Makes the deletion of a deployment durable without waiting; one that was asked for before is left alone. */
export async function beginRemoval(context: DeploymentContext, key: DeploymentKey, call: Call): Promise<void> {
  await retryOnConflict(async () => {
    const at = await loadSnapshot(context, key);
    if (at.current === undefined) throw notFound("deployment", key);
    const { record } = at.current;
    if (record.deletion === undefined) await removeWhole(context, at, record, call);
  });
}

/** What is taken out of one cluster says nothing about others; but units there that the store does not know would be surplus after it. */
function assertAccounted(
  { key, current }: DeploymentSnapshot,
  cluster: ClusterName,
  units: readonly UnaccountedUnit[],
): void {
  const others = units
    .map((unit) => unit.cluster)
    .filter((other) => other !== cluster && current?.record.placements[other] === undefined);
  if (others.length === 0) return;
  const why = `"${key}" also runs in ${others.join(", ")}, which the store does not know of, as after a restore of an older backup`;
  throw failedPrecondition(`deployment "${key}"`, `${why}: apply the deployment again first, or delete it everywhere`);
}

async function removeWhole(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  known: DeploymentRecord,
  call: Call,
): Promise<Launched> {
  const isDeletion = known.deletion !== undefined;
  const running = isDeletion ? joined(context, at) : undefined;
  if (running !== undefined) return running;
  const record = isDeletion ? known : deleted(known, call, context.ambient.clock.now());
  const saga = undeploySaga(record, context.policy, { by: call.caller, correlationId: call.correlationId });
  return launch(context, at, saga, [
    context.deployments.stagePut(at.key, at.current, record),
    ...(isDeletion ? [] : await closed(context, at, call)),
  ]);
}

/** The entry in force says who deleted it, for as long as something is left of the deployment. */
async function closed(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  { caller, reason }: Call,
): Promise<readonly Transaction[]> {
  const running = await superseded(context, at, `a deletion by ${caller}`);
  const desired = at.current?.record.desired;
  if (running.length > 0 || desired === undefined) return running;
  const entry = await context.deployments.revision(at.key, desired.revision);
  if (entry === undefined) return [];
  const words = `deleted by ${caller}${reason === undefined ? "" : `: ${reason}`}`;
  return [
    context.deployments.stageOutcome(entry, {
      ...entry.record,
      clusters: { ...entry.record.clusters, "*": words },
    }),
  ];
}

/** Undefined when there is nothing of it in the cluster. */
async function removeFrom(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  record: DeploymentRecord,
  cluster: ClusterName,
  call: Call,
): Promise<Launched | undefined> {
  const { desired } = record;
  const placement = record.placements[cluster];
  if (placement === undefined) return undefined;
  const asked = { by: call.caller, correlationId: call.correlationId };
  if (placement.state === "withdrawn" || desired === undefined) {
    // Asked for before: tried again now, and no new wish.
    const put = context.deployments.stagePut(at.key, at.current, record);
    return joined(context, at) ?? launch(context, at, withdrawSaga(record, context.policy, asked), [put]);
  }
  const [entry, plan] = await Promise.all([
    context.deployments.revision(at.key, desired.revision),
    context.deployments.plan(at.key, desired.revision),
  ]);
  if (entry === undefined || plan === undefined) throw notFound("deployment revision", `${at.key} ${desired.revision}`);
  const wish = withdrawn(record, cluster, entry.record, {
    deployment: entry.record.deployment as NamedDeployment,
    plan,
    call: { ...call, reason: call.reason ?? `deleted in ${cluster}` },
    nowMs: context.ambient.clock.now(),
  });
  return putInForce(context, at, { ...wish, plan, saga: withdrawSaga(wish.record, context.policy, asked) });
}

/** The saga that is under way, to be waited for as if it had been begun now. */
function joined(context: DeploymentContext, at: DeploymentSnapshot): Launched | undefined {
  const running = underWay(at);
  if (running === undefined || at.saga === undefined) return undefined;
  const { subject, id } = running.saga;
  return { id, outcome: awaited(context, at.key, { subject, id, revision: at.saga.revision }) };
}

/** Whether a deployment would be left with no cluster at all. */
function isLast(record: DeploymentRecord, cluster: ClusterName): boolean {
  if (record.deletion !== undefined) return Object.hasOwn(record.placements, cluster);
  const wanted = placementEntries(record).filter(([, { state }]) => state === "wanted");
  return wanted.length === 1 && wanted[0]?.[0] === cluster;
}

async function answer(
  context: DeploymentContext,
  key: DeploymentKey,
  launched: Launched,
  cluster: ClusterName | undefined,
): Promise<Deletion> {
  const waited = await launched.outcome;
  if (waited.state === "ended") return deletionOf(key, waited.saga, cluster);
  if (waited.state === "gone") {
    return { status: "deleted", deleted: [], pending: [], message: `deployment "${key}" is deleted` };
  }
  // The deletion is written: a store that went away since is no reason to say otherwise.
  const at = await loadSnapshot(context, key).catch(() => undefined);
  const gone = at?.saga?.record.id === launched.id ? removedBy(at.saga.record) : [];
  const left = Object.keys(at?.current?.record.placements ?? {}) as ClusterName[];
  const pending = left.filter((name) => !gone.includes(name) && (cluster === undefined || name === cluster));
  if (cluster !== undefined && gone.includes(cluster)) {
    return {
      status: "deleted",
      deleted: [cluster],
      pending: [],
      message: `deployment "${key}" is deleted in ${cluster}`,
    };
  }
  const where = pending.length === 0 ? "" : `: not every cluster has answered yet of ${pending.join(", ")}`;
  const message = waited.state === "superseded" ? "a newer request took its place" : `the deletion goes on${where}`;
  return { status: "accepted", deleted: gone, pending, message };
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
      : `deployment "${key}" is deleted where it can be; it will be in ${pending.join(", ")} when they are back`;
  return { status: pending.length === 0 ? "deleted" : "accepted", deleted: names(true), pending, message };
}
