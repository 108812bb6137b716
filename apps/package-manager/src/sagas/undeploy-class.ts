import { internal } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { combineTransactions, type Transaction } from "@oaas/storage";
import { applySagaResult } from "../records/deployment-outcome.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import type { SagaKind } from "../saga-engine/kind.ts";
import type { DeploymentSagaDeps } from "./deploy-class.ts";
import type { StoredDeployment } from "../stores/deployment-store.ts";
import { UNDEPLOY_CLASS } from "./saga-plans.ts";
import { isExplicit, unitNamespace, type DeploymentSagaData } from "../records/deployment-saga.ts";

/**
 * Removes every unit of a deployment, then the deployment itself.
 *
 * An unreachable cluster keeps its placement, and with it the record: the tombstone of the deployment.
 */
export function undeployClass({ deployments, sender, clock, claims }: DeploymentSagaDeps): SagaKind {
  const stageForgotten = async (key: DeploymentKey, stored: StoredDeployment): Promise<Transaction> =>
    combineTransactions(
      ...deployments.stageForget(stored),
      ...(await claims.stageFree(key, stored.record.claims ?? [])),
    );
  return {
    name: UNDEPLOY_CLASS,
    open: async (saga) => {
      const data = saga.data as DeploymentSagaData;
      const { key, lastRevision } = data;
      return {
        perform: async ({ target }, { signal }) => {
          const cluster = target as ClusterName;
          const call = { signal, explicit: isExplicit(data), namespace: unitNamespace(data, cluster) };
          await sender.remove(cluster, unitIdOf(key, cluster), lastRevision, call);
          return "removed";
        },
        undo: async () => {
          throw internal("a deletion cannot be undone");
        },
        finish: async (ended) => {
          const stored = await deployments.get(key);
          if (stored === undefined) return { transaction: { writes: [] }, forget: true };
          const record = applySagaResult(stored.record, ended, clock.now());
          return Object.keys(record.placements).length === 0
            ? { transaction: await stageForgotten(key, stored), forget: true }
            : { transaction: deployments.stagePut(key, stored, record) };
        },
      };
    },
  };
}
