import { timestamp } from "@oaas/foundation";
import { outcomeOfCondition, RevisionOutcome, type OperationStatus } from "@oaas/models";
import { conditionOf, type DeploymentRecord, type RevisionRecord } from "./deployment-record.ts";

/**
 * Records the outcome of the desired revision once its clusters have reported it; the same object when nothing changed.
 *
 * *Guarantees*: `running` is final, so that a later fault does not rewrite the history. A revision that is degraded or
 * failed becomes running when it recovers.
 */
export function settleOutcome(record: DeploymentRecord, nowMs: number): DeploymentRecord {
  const { desired } = record;
  if (desired === undefined || record.deletion !== undefined) return record;
  const before = outcomeInForce(record);
  const outcome = outcomeOfCondition(conditionOf(record));
  if (before?.outcome === RevisionOutcome.running || outcome === undefined || outcome === before?.outcome)
    return record;
  return { ...record, outcome: { revision: desired.revision, outcome, at: timestamp(nowMs) } };
}

/** The recorded outcome of the desired revision; undefined while it is only accepted. */
export function outcomeInForce({ desired, outcome }: DeploymentRecord): DeploymentRecord["outcome"] {
  return outcome?.revision === desired?.revision ? outcome : undefined;
}

/** The history entry with a settled outcome; undefined when the entry does not change. */
export function withSettledOutcome(
  entry: RevisionRecord,
  settled: NonNullable<DeploymentRecord["outcome"]>,
): RevisionRecord | undefined {
  if (entry.outcome === RevisionOutcome.running || entry.outcome === settled.outcome) return undefined;
  // A superseded revision that was restored is in force again.
  const { "*": _, ...clusters } = entry.clusters;
  return { ...entry, outcome: settled.outcome, outcomeAt: settled.at, clusters };
}

const ENDED: Partial<Record<OperationStatus["state"], RevisionOutcome>> = {
  failed: RevisionOutcome.failed,
  compensated: RevisionOutcome.rolledBack,
  cancelled: RevisionOutcome.cancelled,
};

/** The operation with the outcome of the revision that it rolls out. */
export function withOutcome(operation: OperationStatus | undefined, record: DeploymentRecord) {
  if (operation === undefined || operation.kind === "delete") return operation;
  const isUndone = operation.state === "compensated" || operation.state === "cancelled";
  const settled = isUndone || operation.state === "running" ? undefined : outcomeInForce(record);
  const outcome = settled?.outcome ?? ENDED[operation.state] ?? RevisionOutcome.accepted;
  return { ...operation, outcome, ...(settled === undefined ? {} : { outcomeAt: settled.at }) };
}
