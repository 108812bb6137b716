import { internal } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { together } from "@oaas/storage";
import { applySagaResult } from "../records/deployment-outcome.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import type { SagaKind } from "../saga-engine/kind.ts";
import type { DeploymentSagaDeps } from "./deploy-class.ts";
import { UNDEPLOY_CLASS } from "./saga-plans.ts";
import type { DeploymentSagaData } from "../records/deployment-saga.ts";

/**
 * Removes every unit of a deployment, then the deployment itself.
 *
 * A cluster out of reach keeps its placement in the record, and the record stays for its sake: that is the tombstone.
 */
export function undeployClass({ deployments, sender, ambient }: DeploymentSagaDeps): SagaKind {
  return {
    name: UNDEPLOY_CLASS,
    open: async (saga) => {
      const { key, lastRevision } = saga.data as DeploymentSagaData;
      return {
        perform: async ({ target }, { signal }) => {
          const cluster = target as ClusterName;
          await sender.remove(cluster, unitIdOf(key, cluster), lastRevision, signal);
          return "removed";
        },
        undo: async () => {
          throw internal("a deletion cannot be undone");
        },
        finish: async (ended) => {
          const stored = await deployments.get(key);
          if (stored === undefined) return { transaction: { writes: [] }, forget: true };
          const record = applySagaResult(stored.record, ended, ambient.clock.now());
          return Object.keys(record.placements).length === 0
            ? { transaction: together(...deployments.stageForget(stored)), forget: true }
            : { transaction: deployments.stagePut(key, stored, record) };
        },
      };
    },
  };
}
