import { Fault, type FaultCode } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import { failedParts, isPermanent, type FailedPart } from "../records/deployment-outcome.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { DeploymentSagaData } from "../records/deployment-saga.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import type { WaitResult } from "../saga-engine/waiters.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { Acknowledgement } from "../use-cases.ts";

/** An operation that was committed. Without `outcome` there is nothing to wait for. */
export interface StartedOperation {
  readonly status: Acknowledgement["status"];
  readonly outcome?: Promise<WaitResult>;
}

const PENDING: Readonly<Record<Exclude<WaitResult["state"], "ended">, string>> = {
  waiting: "not every cluster has accepted the deployment yet; the roll-out continues",
  superseded: "superseded by a newer request before the roll-out finished",
  gone: "deleted before the roll-out finished",
};

/** The response to an operation, after waiting for it. Throws when the roll-out failed everywhere, stopped or was undone. */
export async function acknowledge(
  deployments: Pick<DeploymentStore, "get">,
  key: DeploymentKey,
  started: StartedOperation,
): Promise<Acknowledgement> {
  const result = await started.outcome;
  // The operation is durable: a store that fails now must not turn the response into an error.
  const stored = await deployments.get(key).catch(() => undefined);
  if (result?.state === "ended") assertRolledOut(key, result.saga, stored?.record);
  const version = stored?.revision;
  const about = { id: firstUnit(stored?.record) ?? key, key, ...(version === undefined ? {} : { version }) };
  if (result === undefined) return { ...about, status: started.status };
  if (result.state === "ended") {
    const message = remainingWork(result.saga);
    return { ...about, status: started.status, ...(message === "" ? {} : { message }) };
  }
  return { ...about, status: "accepted", message: PENDING[result.state] };
}

/** The clusters in which the roll-out did not succeed, by whether it is retried there. */
function remainingWork({ steps }: SagaRecord): string {
  const [retried, rejected]: [string[], string[]] = [[], []];
  for (const { target, fault } of steps) {
    if (fault !== undefined) (isPermanent(fault) ? rejected : retried).push(`${target}: ${fault.message}`);
  }
  return [
    ...(retried.length === 0 ? [] : [`continues in the background: ${retried.join("; ")}`]),
    ...(rejected.length === 0 ? [] : [`rejected; apply the deployment again to retry: ${rejected.join("; ")}`]),
  ].join("; ");
}

/** The unit in the first cluster: the id by which clients of the earlier API follow a deployment. */
function firstUnit(record: DeploymentRecord | undefined): string | undefined {
  const [first] = record?.summary.selectedClusters ?? [];
  return first === undefined ? undefined : record?.placements[first]?.unitId;
}

/** Throws when every cluster failed, or when the roll-out was cancelled, undone, or stopped by its policy. */
function assertRolledOut(key: DeploymentKey, saga: SagaRecord, record: DeploymentRecord | undefined): void {
  if (saga.state === "cancelled") {
    throw new Fault({ kind: "cancelled" }, `the operation on deployment "${key}" was cancelled by ${saga.cancelledBy}`);
  }
  const parts = failedParts(saga);
  const isStopped = saga.onFailure === "stop" && saga.state === "failed";
  const isFailure = saga.state === "undone" || isStopped || hasFailedEverywhere(saga, record);
  if (parts.length === 0 || !isFailure) return;
  const what =
    saga.state === "undone" ? "was undone because it failed" : isStopped ? "stopped because it failed" : "failed";
  const [undos, causes] = [parts.filter(({ isUndo }) => isUndo), parts.filter(({ isUndo }) => !isUndo)];
  const why = causes.length === 0 ? what : `${what} in ${textOf(causes)}`;
  const left = undos.length === 0 ? "" : `; not restored yet in ${textOf(undos)}`;
  const isRetried = saga.state === "failed" && parts.some(({ fault }) => fault.retryable);
  throw new Fault(
    { kind: "partial-failure", parts: parts.map(({ name, fault }) => ({ name, fault })) },
    `deployment "${key}" ${why}${left}${isRetried ? RETRIED : ""}`,
    codeOf(saga, causes.length),
  );
}

/** Says what happened to the deployment as a whole; a roll-out that stopped half-way is a partial failure. */
function codeOf(saga: SagaRecord, failed: number): { readonly code?: FaultCode } {
  if (saga.state === "undone") return { code: "OAAS_ROLLOUT_UNDONE" };
  const sends = saga.steps.filter(({ action }) => action === "send").length;
  return failed > 0 && failed >= sends ? { code: "OAAS_ROLLOUT_FAILED" } : {};
}

const RETRIED = "; the deployment will be retried until it succeeds; delete it or roll back to stop";

/** A repair sends only the missing units, so units that run elsewhere count as success. */
function hasFailedEverywhere(saga: SagaRecord, record: DeploymentRecord | undefined): boolean {
  return (saga.data as DeploymentSagaData).operation === "repair"
    ? !Object.values(record?.placements ?? {}).some(({ state, accepted }) => state === "wanted" && accepted)
    : saga.steps.every(({ action, state }) => action !== "send" || state === "failed");
}

function textOf(parts: readonly FailedPart[]): string {
  return parts.map(({ text }) => text).join("; ");
}
