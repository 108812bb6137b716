import { classDeploymentToWire, packageToWire } from "@oaas/contracts/rest";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { DEPLOYMENTS } from "../adapters/store/deployment-store.ts";
import { SAGAS } from "../adapters/store/saga-store.ts";
import { observedDeployment, type DeploymentRecord } from "../deployments/deployment-record.ts";
import { operationStatus } from "../deployments/operation-status.ts";
import { PACKAGES, type PackageRecord } from "../registry/package-records.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import { storedTopic, type StoredTopic } from "./stored-events.ts";

/** Sagas on deployments are subjects of this form; others are work of the inside. */
const DEPLOYMENT_SUBJECT = "deployment/";

/** Everything stored that is told as events, each in the form that its own route answers. */
export function storedTopics(store: KeyValueStore): readonly StoredTopic[] {
  return [
    storedTopic({
      topic: "package",
      collection: new Collection<PackageRecord>(store, PACKAGES),
      objectOf: ({ record }) => packageToWire(record.package),
    }),
    storedTopic({
      topic: "deployment",
      collection: new Collection<DeploymentRecord>(store, DEPLOYMENTS),
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
