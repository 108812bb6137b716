import { timestamp } from "@oaas/foundation";
import {
  driftSummary,
  RevisionOutcome,
  type ClassDeployment,
  type ClusterName,
  type PackageName,
  type UnitId,
} from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { SagaOutcome, SagaRecord, SagaStep } from "../saga-engine/saga.ts";
import { restoreFault, type StoredFault } from "../saga-engine/stored-fault.ts";
import { namespacesOf } from "./desired-deployment.ts";
import {
  conditionOf,
  placementEntries,
  type DeploymentRecord,
  type DesiredRevision,
  type Placement,
  type RevisionRecord,
} from "./deployment-record.ts";

/** The revision to restore, with its units. */
export interface Fallback {
  readonly revision: DesiredRevision;
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  readonly plan: DeploymentPlan;
  readonly units: ReadonlyMap<ClusterName, { readonly unitId: UnitId; readonly digest: string }>;
}

/** Applies the steps of a finished saga to the deployment: accepted, failed and removed units. */
export function applySagaResult(record: DeploymentRecord, saga: SagaRecord, nowMs: number): DeploymentRecord {
  const placements: Record<ClusterName, Placement> = { ...record.placements };
  for (const step of saga.steps) {
    const cluster = step.target as ClusterName;
    const placement = placements[cluster];
    if (placement === undefined) continue;
    if (step.action === "remove" && step.state === "done") delete placements[cluster];
    else placements[cluster] = placementAfter(placement, step, nowMs);
  }
  const { desired } = record;
  const stable = canSucceed(placements) ? desired : (record.stable ?? desired);
  return withSagaSummary({ ...record, placements, ...(stable === undefined ? {} : { stable }) }, saga, nowMs);
}

/** Whether the roll-out succeeded or is still being retried. A rejected or stopped one is not a state to restore. */
function canSucceed(placements: Readonly<Record<ClusterName, Placement>>): boolean {
  const isRejected = ({ state, accepted, fault }: Placement): boolean =>
    state === "wanted" && !accepted && fault !== undefined && isPermanent(fault);
  return !Object.values(placements).some(isRejected);
}

/**
 * The deployment after its roll-out was undone, or rejected by every cluster so that there was nothing to undo.
 *
 * Placements that the fallback does not include are withdrawn, so that leftover units are removed.
 */
export function revertToFallback(
  record: DeploymentRecord,
  saga: SagaRecord,
  fallback: Fallback | undefined,
  nowMs: number,
): DeploymentRecord {
  const steps = new Map(saga.steps.map((step) => [step.target, step]));
  const placements: Record<ClusterName, Placement> = {};
  for (const [cluster, { unitId, namespace }] of placementEntries(record)) {
    const step = steps.get(cluster);
    if (step?.action === "send" && step.state === "undone") continue;
    const where = namespace === undefined ? {} : { namespace };
    placements[cluster] = { unitId, ...where, state: "withdrawn", accepted: false, ...faultIn(step) };
  }
  for (const [cluster, { unitId, digest }] of fallback?.units ?? []) {
    const step = steps.get(cluster);
    const failed = step?.state === "undo-failed";
    const { serving, namespace } = record.placements[cluster] ?? {};
    placements[cluster] = {
      unitId,
      ...(namespace === undefined ? {} : { namespace }),
      state: "wanted",
      digest,
      accepted: !failed,
      ...(failed ? faultIn(step) : {}),
      ...(serving && { serving }),
    };
  }
  const { desired: _, stable: __, ...rest } = record;
  if (fallback === undefined) return withSagaSummary({ ...rest, placements }, saga, nowMs);
  const { deployment, plan, revision } = fallback;
  const summary = {
    replicationFactor: plan.replicas,
    selectedClusters: [...fallback.units.keys()],
    achievedQuorumAvailability: plan.achievedAvailability,
    ...namespacesOf(plan, []),
  };
  const { collections = [] } = plan.odgm ?? {};
  const reverted = { ...rest, deployment, summary, placements, collections, desired: revision, stable: revision };
  return withSagaSummary(reverted, saga, nowMs);
}

/** Every cluster accepted a revision whose saga succeeded; what it becomes there is reported later. */
const OUTCOMES = {
  succeeded: "accepted",
  failed: "failed",
  undone: "rolled-back",
  cancelled: "cancelled",
} as const satisfies Record<SagaOutcome, RevisionOutcome>;

/** The history entry of the saga with its outcome, in total and by cluster. */
export function closeRevision(
  entry: RevisionRecord,
  saga: SagaRecord,
  outcome: SagaOutcome,
  nowMs: number,
): RevisionRecord {
  const clusters = Object.fromEntries(saga.steps.map((step) => [step.target, describeStep(step)]));
  const { cancelledBy } = saga;
  return {
    ...entry,
    ...outcomeAt(OUTCOMES[outcome], nowMs),
    clusters: cancelledBy === undefined ? clusters : { ...clusters, "*": `cancelled by ${cancelledBy}` },
  };
}

/**
 * The history entry of a revision whose missing units a later saga has sent; undefined when the entry does not change.
 *
 * `record` is the deployment after that saga.
 */
export function completeRevision(
  entry: RevisionRecord,
  saga: SagaRecord,
  record: DeploymentRecord,
): RevisionRecord | undefined {
  const done = saga.steps.filter(({ state, target }) => state === "done" && entry.clusters[target] !== undefined);
  const changes = done.map((step) => [step.target, describeStep(step)] as const);
  const isComplete = Object.values(record.placements).every(({ state, accepted }) => state !== "wanted" || accepted);
  const isAccepted = entry.outcome === "failed" && isComplete;
  if (!isAccepted && changes.every(([cluster, text]) => entry.clusters[cluster] === text)) return undefined;
  const { outcomeAt: _, ...accepted } = { ...entry, outcome: RevisionOutcome.accepted };
  return { ...(isAccepted ? accepted : entry), clusters: { ...entry.clusters, ...Object.fromEntries(changes) } };
}

/** The history entry of a revision that was superseded before the clusters reported a result. */
export function supersedeRevision(
  entry: RevisionRecord,
  saga: SagaRecord | undefined,
  by: string,
  nowMs: number,
): RevisionRecord {
  const steps = Object.fromEntries((saga?.steps ?? []).map((step) => [step.target, describeStep(step)]));
  const clusters = { ...entry.clusters, ...steps, "*": `superseded by ${by}` };
  return { ...entry, ...outcomeAt("superseded", nowMs), clusters };
}

function outcomeAt(outcome: RevisionOutcome, nowMs: number): Pick<RevisionRecord, "outcome" | "outcomeAt"> {
  return outcome === "accepted" ? { outcome } : { outcome, outcomeAt: timestamp(nowMs) };
}

export interface FailedPart {
  readonly name: string;
  readonly fault: ReturnType<typeof restoreFault>;
  /** The undo of the step failed, not the step. */
  readonly isUndo: boolean;
  readonly text: string;
}

/** The failed steps, as parts of a fault. */
export function failedParts(saga: SagaRecord): readonly FailedPart[] {
  return saga.steps.flatMap(({ action, target, fault, state, note }) => {
    if (action !== "send" || fault === undefined) return [];
    const isUndo = state === "undo-failed";
    const text = `${target}: ${fault.message}${isUndo ? causeIn(note) : ""}`;
    return [{ name: target, fault: restoreFault(fault), isUndo, text }];
  });
}

/** Whether every cluster rejected the deployment permanently, so that it cannot be in force. */
export function isRejectedEverywhere(saga: SagaRecord): boolean {
  const sends = saga.steps.filter(({ action }) => action === "send");
  return (
    sends.length > 0 &&
    sends.every(({ state, fault }) => state === "failed" && fault !== undefined && isPermanent(fault))
  );
}

/** Whether a retry without a change cannot succeed. */
export function isPermanent(fault: StoredFault): boolean {
  return !restoreFault(fault).retryable;
}

const NOT_REACHED: StoredFault = {
  detail: { kind: "failed-precondition", subject: "roll-out" },
  code: "OAAS_FAILED_PRECONDITION",
  message: "the roll-out stopped before this cluster",
};

/** Every send writes the object, so the recorded generation is outdated. */
function placementAfter(
  { fault: _fault, generation: _generation, ...placement }: Placement,
  step: SagaStep,
  nowMs: number,
): Placement {
  switch (step.state) {
    case "done":
      return { ...placement, accepted: true, ...correctedDrift(placement, nowMs) };
    case "waiting":
      return step.action === "send" ? { ...placement, fault: NOT_REACHED } : placement;
    case "started":
    case "failed":
    case "undone":
    case "undo-failed":
      return { ...placement, accepted: false, ...faultIn(step) };
  }
}

/** The drift that this acceptance corrects, with the time that it took. */
function correctedDrift(
  { drift, accepted }: Pick<Placement, "drift" | "accepted">,
  nowMs: number,
): Pick<Placement, "drift"> {
  if (drift === undefined || accepted || drift.durationMs !== undefined) return {};
  const corrected = { ...drift, durationMs: Math.max(0, nowMs - Date.parse(drift.lastAt)) };
  return { drift: { ...corrected, message: driftSummary(corrected) } };
}

function faultIn(step: SagaStep | undefined): { readonly fault?: StoredFault } {
  return step?.fault === undefined ? {} : { fault: step.fault };
}

function withSagaSummary(
  record: Omit<DeploymentRecord, "condition">,
  saga: SagaRecord,
  nowMs: number,
): DeploymentRecord {
  const { lastError: _, ...summary } = record.summary;
  const failed = saga.steps.find(({ fault }) => fault !== undefined);
  return {
    ...record,
    condition: conditionOf(record),
    summary:
      failed?.fault === undefined ? summary : { ...summary, lastError: `${failed.target}: ${failed.fault.message}` },
    updatedAt: timestamp(nowMs),
  };
}

/** The reason for an undo that failed. */
function causeIn(note: string | undefined): string {
  return note === undefined || note === "" ? "" : `; ${note}`;
}

const RESULTS: Readonly<Record<string, string>> = { send: "accepted", remove: "removed" };

function describeStep({ action, state, note, fault }: SagaStep): string {
  const why = fault === undefined ? "" : `: ${fault.message}`;
  switch (state) {
    case "done":
      return note ?? RESULTS[action] ?? "done";
    case "failed":
      return `${action === "send" ? "not accepted" : "not removed yet"}${why}`;
    case "undone":
      return `${note ?? "restored"}${why === "" ? "" : `; failed before${why}`}`;
    case "undo-failed":
      return `not restored yet${why}${causeIn(note)}`;
    case "started":
      return "started";
    case "waiting":
      return "not started";
  }
}
