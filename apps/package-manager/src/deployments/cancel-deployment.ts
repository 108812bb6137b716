import { failedPrecondition, notFound } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import type { SagaEngine } from "../saga-engine/engine.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { Call } from "../use-cases.ts";
import { loadSnapshot, runningSaga } from "./deployment-snapshot.ts";

export interface CancelDeps {
  readonly deployments: Pick<DeploymentStore, "get">;
  readonly engine: Pick<SagaEngine, "get" | "cancel">;
}

/** Stops the running roll-out of a deployment and undoes its effects. */
export async function cancelDeployment(deps: CancelDeps, key: DeploymentKey, call: Call): Promise<void> {
  const snapshot = await loadSnapshot(deps, key);
  if (snapshot.current === undefined) throw notFound("deployment", key);
  const running = runningSaga(snapshot);
  if (running === undefined)
    throw failedPrecondition(`deployment "${key}"`, `no operation is running for deployment "${key}"`);
  const { operation } = running.data;
  if (operation !== "deploy" && operation !== "roll_back") {
    const what = operation === "delete" ? "a deletion" : "a repair";
    throw failedPrecondition(`deployment "${key}"`, `${what} of "${key}" is running and cannot be cancelled`);
  }
  await deps.engine.cancel(running.saga.subject, running.saga.id, call.caller);
}
