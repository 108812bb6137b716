import type { SagaRecord, SagaState } from "../saga-engine/saga.ts";
import type { DeploymentSagaData } from "../sagas/saga-plans.ts";
import type { OperationStatus } from "../use-cases.ts";

const STATES = {
  running: "running",
  undoing: "compensating",
  succeeded: "succeeded",
  failed: "failed",
  undone: "compensated",
  cancelled: "cancelled",
} as const satisfies Record<SagaState, OperationStatus["state"]>;

/** The saga of a deployment as the API tells it. */
export function operationStatus(saga: SagaRecord): OperationStatus {
  const { operation } = saga.data as DeploymentSagaData;
  const failed = saga.steps.find(({ fault }) => fault !== undefined);
  return {
    id: saga.id,
    kind: operation,
    state: STATES[saga.state],
    done: saga.steps.filter(({ state }) => state === "done" || state === "undone").length,
    total: saga.steps.length,
    ...(failed?.fault === undefined ? {} : { message: `${failed.target}: ${failed.fault.message}` }),
  };
}
