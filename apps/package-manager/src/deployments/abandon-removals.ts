import type { Ids } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { CollectionView, KeyValueStore } from "@oaas/storage";
import { isReachable } from "../clusters/cluster-health.ts";
import { retryOnConflict } from "../concurrency.ts";
import type { ClusterDirectory } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { undeploySaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import { loadSnapshot, runningSaga } from "./deployment-snapshot.ts";
import type { SagaLauncher } from "./saga-launcher.ts";

export interface AbandonDeps {
  readonly store: Pick<KeyValueStore, "commit">;
  readonly deployments: DeploymentStore;
  readonly view: Pick<CollectionView<DeploymentRecord>, "all" | "waitForRevision">;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly clusters: Pick<ClusterDirectory, "reading">;
  readonly policy: RolloutPolicy;
  readonly ids: Ids;
}

/**
 * Drops the pending removals in a cluster that does not answer. Returns the deployments that had one.
 *
 * *Guarantees*: nothing is dropped while a unit is wanted in the cluster, nor while an operation of the deployment is
 * running. When the cluster is registered again, its leftover units are surplus or unaccounted (ADR 0016).
 */
export async function abandonRemovals(deps: AbandonDeps, cluster: ClusterName): Promise<readonly DeploymentKey[]> {
  const holders = [...deps.view.all()].filter(({ record }) => Object.hasOwn(record.placements, cluster));
  const isAllPending = holders.every(({ record }) => hasPendingRemoval(record, cluster));
  if (holders.length === 0 || !isAllPending) return [];
  if (isReachable(await deps.clusters.reading(cluster))) return [];
  const abandoned: DeploymentKey[] = [];
  for (const { id } of holders) {
    const key = id as DeploymentKey;
    if (await retryOnConflict(() => abandonRemoval(deps, key, cluster))) abandoned.push(key);
  }
  return abandoned;
}

function hasPendingRemoval({ placements }: DeploymentRecord, cluster: ClusterName): boolean {
  const placement = placements[cluster];
  return placement !== undefined && placement.state !== "wanted";
}

async function abandonRemoval(deps: AbandonDeps, key: DeploymentKey, cluster: ClusterName): Promise<boolean> {
  const { store, deployments, view, launcher, policy, ids } = deps;
  const snapshot = await loadSnapshot(deps, key);
  const { current } = snapshot;
  if (current === undefined || !hasPendingRemoval(current.record, cluster)) return false;
  if (runningSaga(snapshot) !== undefined) return false;
  const { lastError: _, ...summary } = current.record.summary;
  const { [cluster]: __, ...placements } = current.record.placements;
  const record: DeploymentRecord = { ...current.record, placements, summary };
  const put = deployments.stagePut(key, current, record);
  if (record.deletion === undefined || Object.keys(placements).length > 0) {
    const { revision } = await store.commit(put);
    await view.waitForRevision(revision);
    return true;
  }
  // It was the last placement of a deleted deployment: finish the deletion.
  const requester = { by: record.deletion.by, correlationId: ids.uuid() };
  const { outcome } = await launcher.launch(snapshot, undeploySaga(record, policy, requester), [put]);
  await outcome;
  return true;
}
