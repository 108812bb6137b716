import { sleep, type Ambient } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import type { CollectionView, KeyValueStore, Transaction } from "@oaas/storage";
import type { DeploymentStore, StoredDeployment } from "../stores/deployment-store.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { ClusterDirectory } from "../ports.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen, type NewSaga, type SagaRecord } from "../saga-engine/saga.ts";
import type { SagaReference, WaitResult } from "../saga-engine/waiters.ts";
import type { RolloutPolicy } from "../sagas/saga-plans.ts";
import type { DeploymentSagaData } from "../records/deployment-saga.ts";
import type { UnitSender } from "../sagas/unit-sender.ts";
import { assertVersionOf } from "../concurrency.ts";
import type { VersionCondition } from "../use-cases.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { supersedeRevision } from "../records/deployment-outcome.ts";
import type { Planning } from "./planning/planning.ts";
import type { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import { type RevisedDeployment } from "../records/desired-deployment.ts";
import { subjectOf } from "../records/deployment-saga.ts";

/** What the use cases of deployments share. */
export interface DeploymentContext {
  readonly store: KeyValueStore;
  readonly deployments: DeploymentStore;
  readonly view: CollectionView<DeploymentRecord>;
  readonly unaccounted: UnaccountedUnits;
  readonly engine: SagaEngine;
  readonly sender: UnitSender;
  readonly planning: Planning;
  readonly clusters: Pick<ClusterDirectory, "get" | "list">;
  readonly ambient: Ambient;
  readonly policy: RolloutPolicy;
  /** How long a caller waits for acceptance before it is told that work goes on. */
  readonly waitMs: number;
  /** Entries of a history that are kept. */
  readonly history: number;
}

/** How long a writer waits for the lists of its own process to show what it wrote; it is written either way. */
const SHOWN_WITHIN_MS = 2_000;
const SHOWN_POLL_MS = 5;

/** A deployment and its saga, read to decide on both. */
export interface DeploymentSnapshot {
  readonly key: DeploymentKey;
  readonly current: StoredDeployment | undefined;
  readonly saga: Awaited<ReturnType<SagaEngine["get"]>>;
}

export async function loadSnapshot(context: DeploymentContext, key: DeploymentKey): Promise<DeploymentSnapshot> {
  const [current, saga] = await Promise.all([context.deployments.get(key), context.engine.get(subjectOf(key))]);
  return { key, current, saga };
}

/** Refuses a write on a version that the caller did not see. */
export function assertVersion({ key, current }: DeploymentSnapshot, ifVersion: VersionCondition | undefined): void {
  if (ifVersion !== undefined) assertVersionOf("deployment", key, current?.revision, ifVersion);
}

/** The saga of a deployment that is under way, as what it knows. */
export function underWay({
  saga,
}: DeploymentSnapshot): { readonly saga: SagaRecord; readonly data: DeploymentSagaData } | undefined {
  if (saga === undefined || !isOpen(saga.record)) return undefined;
  return { saga: saga.record, data: saga.record.data as DeploymentSagaData };
}

/** Writes a wish, its plan, its entry of the history and the saga that carries it out, in one transaction. */
export async function putInForce(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  wish: RevisedDeployment & { readonly plan: DeploymentPlan; readonly saga: NewSaga; readonly also?: Transaction },
  mark?: Mark,
): Promise<Launched> {
  const { deployments, history } = context;
  const { record, entry, plan, saga, also = { writes: [] } } = wish;
  const oldest = entry.revision - history;
  const isNeeded = oldest < 1 || oldest === record.stable?.revision;
  const parts = [
    deployments.stagePut(at.key, at.current, record),
    ...deployments.stageRevision(at.key, entry, plan),
    ...(isNeeded ? [] : deployments.stageForgetRevision(at.key, oldest)),
    ...(await superseded(context, at, `revision ${entry.revision}`)),
    also,
  ];
  return launch(context, at, saga, parts, mark);
}

/** A saga that began, and what is known of it when the wait is over. */
export interface Launched {
  readonly id: string;
  readonly outcome: Promise<WaitResult>;
}

/** Makes the mark of a request that is carried out once, of the saga that it began. */
export type Mark = (saga: string) => Transaction;

/** Commits something about a deployment together with its next saga, and lets that begin. */
export async function launch(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  saga: NewSaga,
  parts: readonly Transaction[],
  mark?: Mark,
): Promise<Launched> {
  const staged = await context.engine.stage(at.saga, saga);
  const reference = await staged.commit(mark === undefined ? parts : [...parts, mark(staged.id)]);
  return { id: reference.id, outcome: awaited(context, at.key, reference) };
}

/** Waits for a saga as long as callers do, then for the lists of this process to show what it did. Never rejects. */
export async function awaited(
  context: DeploymentContext,
  key: DeploymentKey,
  saga: SagaReference,
): Promise<WaitResult> {
  const waited = await context.engine.wait(saga, { timeoutMs: context.waitMs });
  await shown(context, key).catch(() => undefined);
  return waited;
}

async function shown({ ambient, view, deployments }: DeploymentContext, key: DeploymentKey): Promise<void> {
  const revision = (await deployments.get(key))?.revision;
  const isShown = (): boolean =>
    revision === undefined ? view.get(key) === undefined : (view.get(key)?.revision ?? 0) >= revision;
  const until = ambient.clock.monotonic() + SHOWN_WITHIN_MS;
  while (!isShown() && ambient.clock.monotonic() < until) await sleep(ambient.timers, SHOWN_POLL_MS);
}

/** Closes the entry of a wish that is still being carried out. */
export async function superseded(
  { deployments }: DeploymentContext,
  at: DeploymentSnapshot,
  by: string,
): Promise<readonly Transaction[]> {
  const desired = at.current?.record.desired;
  if (desired === undefined || underWay(at) === undefined) return [];
  const entry = await deployments.revision(at.key, desired.revision);
  if (entry?.record.outcome !== "running") return [];
  return [deployments.stageOutcome(entry, supersedeRevision(entry.record, at.saga?.record, by))];
}
