import type { DeploymentKey } from "@oaas/models";
import type { Stored } from "@oaas/storage";
import { assertVersionOf } from "../concurrency.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { RevisionRecord } from "../records/deployment-record.ts";
import { subjectOf, type DeploymentSagaData } from "../records/deployment-saga.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen, type SagaRecord } from "../saga-engine/saga.ts";
import type { DeploymentStore, StoredDeployment } from "../stores/deployment-store.ts";
import type { VersionCondition } from "../use-cases.ts";

/** A deployment and its newest saga, read together to decide on both. */
export interface DeploymentSnapshot {
  readonly key: DeploymentKey;
  readonly current: StoredDeployment | undefined;
  readonly saga: Stored<SagaRecord> | undefined;
}

export interface SnapshotSources {
  readonly deployments: Pick<DeploymentStore, "get">;
  readonly engine: Pick<SagaEngine, "get">;
}

export async function loadSnapshot(
  { deployments, engine }: SnapshotSources,
  key: DeploymentKey,
): Promise<DeploymentSnapshot> {
  const [current, saga] = await Promise.all([deployments.get(key), engine.get(subjectOf(key))]);
  return { key, current, saga };
}

/** Rejects a write whose `if-match` or `if-none-match` condition the deployment does not meet. */
export function assertVersion({ key, current }: DeploymentSnapshot, ifVersion: VersionCondition | undefined): void {
  if (ifVersion !== undefined) assertVersionOf("deployment", key, current?.revision, ifVersion);
}

/** The saga of the deployment that is not finished yet, with its data. */
export function runningSaga({
  saga,
}: DeploymentSnapshot): { readonly saga: SagaRecord; readonly data: DeploymentSagaData } | undefined {
  if (saga === undefined || !isOpen(saga.record)) return undefined;
  return { saga: saga.record, data: saga.record.data as DeploymentSagaData };
}

/** The plan of the revision that is in force; undefined when none is. */
export async function desiredPlan(
  deployments: Pick<DeploymentStore, "plan">,
  { key, current }: Pick<DeploymentSnapshot, "key" | "current">,
): Promise<DeploymentPlan | undefined> {
  const desired = current?.record.desired;
  return desired && deployments.plan(key, desired.revision);
}

/** The history entry of the revision that is in force; undefined when none is. */
export async function desiredEntry(
  deployments: Pick<DeploymentStore, "revision">,
  { key, current }: Pick<DeploymentSnapshot, "key" | "current">,
): Promise<RevisionRecord | undefined> {
  const desired = current?.record.desired;
  return desired && (await deployments.revision(key, desired.revision))?.record;
}
