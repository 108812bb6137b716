import type { ClusterName, DeploymentKey } from "@oaas/models";
import { isReachable } from "../clusters/cluster-health.ts";
import { retryOnConflict } from "../concurrency.ts";
import type { ClusterDirectory } from "../ports.ts";
import { undeploySaga } from "../sagas/saga-plans.ts";
import { launch, loadSnapshot, underWay, type DeploymentContext } from "./context.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";

/**
 * Gives up what is left to be removed in a cluster that does not answer; answers the deployments of which it was the case.
 *
 * *Guarantees*: nothing is given up while something is wanted there, nor what an operation is about to remove. Should the cluster be registered again, what it has
 * left is surplus, or unaccounted for: removed, or told (ADR 0016).
 */
export async function abandonRemovals(
  context: DeploymentContext,
  cluster: ClusterName,
  clusters: Pick<ClusterDirectory, "reading">,
): Promise<readonly DeploymentKey[]> {
  const held = [...context.view.all()].filter(({ record }) => Object.hasOwn(record.placements, cluster));
  const isAllLeft = held.every(({ record }) => isLeftIn(record, cluster));
  if (held.length === 0 || !isAllLeft || isReachable(await clusters.reading(cluster))) return [];
  const given: DeploymentKey[] = [];
  for (const { id } of held) {
    const key = id as DeploymentKey;
    if (await retryOnConflict(() => giveUp(context, key, cluster))) given.push(key);
  }
  return given;
}

function isLeftIn({ placements }: DeploymentRecord, cluster: ClusterName): boolean {
  const placement = placements[cluster];
  return placement !== undefined && placement.state !== "wanted";
}

async function giveUp(context: DeploymentContext, key: DeploymentKey, cluster: ClusterName): Promise<boolean> {
  const at = await loadSnapshot(context, key);
  if (at.current === undefined || !isLeftIn(at.current.record, cluster) || underWay(at) !== undefined) return false;
  const { lastError: _, ...summary } = at.current.record.summary;
  const { [cluster]: __, ...placements } = at.current.record.placements;
  const record: DeploymentRecord = { ...at.current.record, placements, summary };
  const put = context.deployments.stagePut(key, at.current, record);
  if (record.deletion === undefined || Object.keys(placements).length > 0) {
    const { revision } = await context.store.commit(put);
    await context.view.reached(revision);
    return true;
  }
  // Nothing is left to do but to forget it.
  const asked = { by: record.deletion.by, correlationId: context.ambient.ids.uuid() };
  const { outcome } = await launch(context, at, undeploySaga(record, context.policy, asked), [put]);
  await outcome;
  return true;
}
