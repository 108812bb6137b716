import { Fault, isFault, type Clock, type Ids } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, DriftCorrection } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import { combineTransactions, conflictOf, type KeyValueStore, type Transaction } from "@oaas/storage";
import { loadSnapshot, runningSaga } from "../deployments/deployment-snapshot.ts";
import type { DeploymentPauses } from "../deployments/deployment-pauses.ts";
import type { SagaLauncher } from "../deployments/saga-launcher.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { BACKGROUND } from "../records/deployment-saga.ts";
import { outcomeInForce, settleOutcome, withSettledOutcome } from "../records/revision-outcome.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { repairSaga, type RolloutPolicy } from "../sagas/saga-plans.ts";
import type { DeploymentStore, StoredDeployment } from "../stores/deployment-store.ts";
import { driftedUnits, withReports, withUnitDrift, type Reports } from "./observed-drift.ts";

export interface RepairDeps {
  readonly store: Pick<KeyValueStore, "commit">;
  readonly deployments: DeploymentStore;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly policy: RolloutPolicy;
  readonly pauses: Pick<DeploymentPauses, "of">;
  readonly ids: Ids;
  readonly clock: Clock;
  /** A unit was found changed or missing; it is sent again. */
  readonly onDrift?: (key: DeploymentKey, cluster: ClusterName, correction: DriftCorrection) => void;
  readonly logger: Logger;
}

/** Deployments repaired at the same time. */
const MAX_PARALLEL = 16;

/** A deployment and the reports of clusters that were received after it was read. */
export interface Finding {
  readonly stored: StoredDeployment;
  readonly reports: Reports;
  /** Clusters to leave alone. */
  readonly excluded: ReadonlySet<string>;
}

/**
 * Records the reports of clusters and starts a repair for each deployment that differs from its desired state. Returns
 * the deployments for which a repair was started.
 *
 * *Guarantees*: a deployment with a running saga, or changed since it was read, is left alone; nothing is written when
 * nothing changed. A deployment that cannot be repaired, for example because its saga is unreadable, is logged and does
 * not affect the others; only a fault of the store ends the call.
 */
export async function repairAll(deps: RepairDeps, findings: Iterable<Finding>): Promise<readonly DeploymentKey[]> {
  const due = [...findings].filter(({ stored: { record }, reports, excluded }) => {
    const next = settleOutcome(withReports(record, reports), deps.clock.now());
    const requester = { by: BACKGROUND.drift, correlationId: "" };
    return (
      next !== record || (!isPaused(deps, next) && repairSaga(next, excluded, deps.policy, requester) !== undefined)
    );
  });
  const repaired: DeploymentKey[] = [];
  const queue = due.values();
  const worker = async (): Promise<void> => {
    for (const finding of queue) {
      if (await tryRepair(deps, finding)) repaired.push(finding.stored.id as DeploymentKey);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, worker));
  return repaired;
}

/** Reports of a paused deployment are recorded, and repaired when the pause ends. A deletion continues. */
function isPaused({ pauses }: RepairDeps, { deployment, deletion }: DeploymentRecord): boolean {
  return deletion === undefined && pauses.of(deployment.key) !== undefined;
}

async function tryRepair(deps: RepairDeps, finding: Finding): Promise<boolean> {
  try {
    return await repair(deps, finding);
  } catch (thrown) {
    const error = Fault.from(thrown);
    if (error.retryable) throw error;
    deps.logger.error("repair deployment failed", { [LOG_FIELDS.deploymentId]: finding.stored.id, error });
    return false;
  }
}

/** False when no repair was needed, or the deployment was changed by another writer: the next sweep handles it. */
async function repair(deps: RepairDeps, { stored, reports, excluded }: Finding): Promise<boolean> {
  const { deployments, launcher, policy, ids, logger } = deps;
  const key = stored.id as DeploymentKey;
  const snapshot = await loadSnapshot(deps, key);
  const { current } = snapshot;
  if (current?.revision !== stored.revision || runningSaga(snapshot) !== undefined) return false;
  const reported = withUnitDrift(current.record, withReports(current.record, reports), reports, deps.clock.now());
  const record = settleOutcome(reported, deps.clock.now());
  const correlationId = ids.uuid();
  const requester = { by: BACKGROUND.drift, correlationId };
  const saga = isPaused(deps, record) ? undefined : repairSaga(record, excluded, policy, requester);
  try {
    const parts = [deployments.stagePut(key, current, record), ...(await stageOutcome(deployments, key, record))];
    if (saga === undefined) await deps.store.commit(combineTransactions(...parts));
    else await launcher.launch(snapshot, saga, parts);
  } catch (thrown) {
    if (conflictOf(thrown) !== undefined || isFault(thrown, "conflict")) return false;
    throw thrown;
  }
  for (const [cluster, correction] of driftedUnits(current.record, record)) deps.onDrift?.(key, cluster, correction);
  if (saga === undefined) return false;
  logger.info("repair deployment", {
    [LOG_FIELDS.deploymentId]: key,
    [LOG_FIELDS.correlationId]: correlationId,
    clusters: saga.steps.map(({ target }) => target),
  });
  return true;
}

/** Writes the outcome of the desired revision to its history entry, unless the entry has it. */
async function stageOutcome(
  deployments: DeploymentStore,
  key: DeploymentKey,
  record: DeploymentRecord,
): Promise<readonly Transaction[]> {
  const settled = outcomeInForce(record);
  const entry = settled && (await deployments.revision(key, settled.revision));
  const next = entry && withSettledOutcome(entry.record, settled);
  return entry && next ? [deployments.stageOutcome(entry, next)] : [];
}
