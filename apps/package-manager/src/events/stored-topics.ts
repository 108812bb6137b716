import { classDeploymentToWire, packageToWire, restartTurnToWire } from "@oaas/contracts/rest";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { SAGAS } from "../saga-engine/saga.ts";
import { maskDeployment, maskPackage } from "../masking/mask-settings.ts";
import { observedDeployment, type DeploymentRecord } from "../records/deployment-record.ts";
import { operationStatus } from "../records/deployment-saga.ts";
import type { PackageRecord } from "../registry/package-records.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import type { ReplanRecord } from "../records/replan-record.ts";
import { restartTurn } from "../records/restart-turn.ts";
import { REPLANS } from "../stores/replan-store.ts";
import { openTurns } from "../stores/turn-store.ts";
import { storedTopic, type FollowedCollection, type StoredTopic } from "./stored-events.ts";

/** The prefix of the subjects of deployment sagas; other sagas are internal. */
const DEPLOYMENT_SUBJECT = "deployment/";

/** Collections that other parts have open, shared to avoid decoding records twice. */
export interface SharedCollections {
  readonly packages: FollowedCollection<PackageRecord>;
  readonly deployments: FollowedCollection<DeploymentRecord>;
}

/** The stored topics, with objects in the form of their REST routes and secrets masked. */
export function storedTopics(
  store: KeyValueStore,
  { packages, deployments }: SharedCollections,
): readonly StoredTopic[] {
  return [
    storedTopic({
      topic: "package",
      collection: packages,
      toObject: ({ record }) => packageToWire(maskPackage(record.package)),
    }),
    storedTopic({
      topic: "deployment",
      collection: deployments,
      toObject: ({ record }) => {
        const observed = observedDeployment(record);
        return classDeploymentToWire({ ...observed, deployment: maskDeployment(observed.deployment) });
      },
    }),
    storedTopic({
      topic: "deployment",
      type: "replan",
      ignoresDeletions: true,
      collection: new Collection<ReplanRecord>(store, REPLANS),
      toObject: ({ record }) => replanEvent(record),
    }),
    storedTopic({
      topic: "deployment",
      type: "restart-turn",
      ignoresDeletions: true,
      collection: openTurns(store),
      toObject: ({ record }) => restartTurnToWire(restartTurn(record)),
    }),
    storedTopic({
      topic: "operation",
      type: "progress",
      collection: new Collection<SagaRecord>(store, SAGAS),
      keyOf: (id) => (id.startsWith(DEPLOYMENT_SUBJECT) ? id.slice(DEPLOYMENT_SUBJECT.length) : undefined),
      toObject: ({ record }) => {
        const operation = operationStatus(record);
        return { ...operation, message: operation.message ?? null };
      },
    }),
  ];
}

/** The object of an event about a new plan; the status of the deployment has its changes. */
function replanEvent({ state, reason, message, since, lostClusters, plan, revision }: ReplanRecord): object {
  return {
    state,
    reason,
    message,
    since,
    lost_clusters: lostClusters,
    ...(plan === undefined ? {} : { plan_digest: plan.digest }),
    ...(revision === undefined ? {} : { revision }),
  };
}
