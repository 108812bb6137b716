import { classDeploymentToWire, packageToWire } from "@oaas/contracts/rest";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { SAGAS } from "../saga-engine/saga.ts";
import { observedDeployment, type DeploymentRecord } from "../records/deployment-record.ts";
import { operationStatus } from "../records/deployment-saga.ts";
import type { PackageRecord } from "../registry/package-records.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import { storedTopic, type FollowedCollection, type StoredTopic } from "./stored-events.ts";

/** Sagas on deployments are subjects of this form; others are work of the inside. */
const DEPLOYMENT_SUBJECT = "deployment/";

/** The collections that others keep open already: what they have read need not be read again to tell it. */
export interface KnownCollections {
  readonly packages: FollowedCollection<PackageRecord>;
  readonly deployments: FollowedCollection<DeploymentRecord>;
}

/** Everything stored that is told as events, each in the form that its own route answers. */
export function storedTopics(
  store: KeyValueStore,
  { packages, deployments }: KnownCollections,
): readonly StoredTopic[] {
  return [
    storedTopic({
      topic: "package",
      collection: packages,
      objectOf: ({ record }) => packageToWire(record.package),
    }),
    storedTopic({
      topic: "deployment",
      collection: deployments,
      objectOf: ({ record }) => classDeploymentToWire(observedDeployment(record)),
    }),
    storedTopic({
      topic: "operation",
      type: "progress",
      collection: new Collection<SagaRecord>(store, SAGAS),
      keyOf: (id) => (id.startsWith(DEPLOYMENT_SUBJECT) ? id.slice(DEPLOYMENT_SUBJECT.length) : undefined),
      objectOf: ({ record }) => {
        const operation = operationStatus(record);
        return { ...operation, message: operation.message ?? null };
      },
    }),
  ];
}
