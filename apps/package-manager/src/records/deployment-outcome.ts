import { timestamp } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, PackageName, UnitId } from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { SagaOutcome, SagaRecord, SagaStep } from "../saga-engine/saga.ts";
import { restoreFault, type StoredFault } from "../saga-engine/stored-fault.ts";
import {
  conditionOf,
  placementEntries,
  type DeploymentRecord,
  type DesiredRevision,
  type Placement,
  type RevisionRecord,
} from "./deployment-record.ts";

/** A wish to go back to, with the units it wants. */
export interface Fallback {
  readonly inForce: DesiredRevision;
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  readonly plan: DeploymentPlan;
  readonly units: ReadonlyMap<ClusterName, { readonly unitId: UnitId; readonly digest: string }>;
}

/** What became of a saga over a deployment that stays: accepted, missing and removed units, as its steps say. */
export function applySagaResult(record: DeploymentRecord, saga: SagaRecord, nowMs: number): DeploymentRecord {
  const placements: Record<ClusterName, Placement> = { ...record.placements };
  for (const step of saga.steps) {
    const cluster = step.target as ClusterName;
    const placement = placements[cluster];
    if (placement === undefined) continue;
    if (step.action === "remove" && step.state === "done") delete placements[cluster];
    else placements[cluster] = after(placement, step);
  }
  const { desired } = record;
  const stable = comesAbout(placements) ? desired : (record.stable ?? desired);
  return settledRecord({ ...record, placements, ...(stable === undefined ? {} : { stable }) }, saga, nowMs);
}

/** Whether a wish is, or by itself will be, carried out to its end. One that was refused, or stopped at a gate, is nothing to go back to. */
function comesAbout(placements: Readonly<Record<ClusterName, Placement>>): boolean {
  const isGivenUp = ({ state, accepted, fault }: Placement): boolean =>
    state === "wanted" && !accepted && fault !== undefined && isPermanent(fault);
  return !Object.values(placements).some(isGivenUp);
}

/**
 * The deployment after its wish was undone, or refused by every cluster so that there was nothing to undo.
 *
 * What the fallback does not want and may still be somewhere is withdrawn, so that it is removed for certain.
 */
export function revertToFallback(
  record: DeploymentRecord,
  saga: SagaRecord,
  fallback: Fallback | undefined,
  nowMs: number,
): DeploymentRecord {
  const steps = new Map(saga.steps.map((step) => [step.target, step]));
  const placements: Record<ClusterName, Placement> = {};
  for (const [cluster, { unitId }] of placementEntries(record)) {
    const step = steps.get(cluster);
    if (step?.action === "send" && step.state === "undone") continue;
    placements[cluster] = { unitId, state: "withdrawn", accepted: false, ...faultIn(step) };
  }
  for (const [cluster, { unitId, digest }] of fallback?.units ?? []) {
    const step = steps.get(cluster);
    const failed = step?.state === "undo-failed";
    placements[cluster] = { unitId, state: "wanted", digest, accepted: !failed, ...(failed ? faultIn(step) : {}) };
  }
  const { desired: _, stable: __, ...rest } = record;
  if (fallback === undefined) return settledRecord({ ...rest, placements }, saga, nowMs);
  const { deployment, plan, inForce } = fallback;
  const summary = {
    replicationFactor: plan.replicas,
    selectedClusters: [...fallback.units.keys()],
    achievedQuorumAvailability: plan.achievedAvailability,
  };
  const back = { ...rest, deployment, summary, placements, desired: inForce, stable: inForce };
  return settledRecord(back, saga, nowMs);
}

/** The entry of the history that the saga was about, with what came of it in each cluster. */
export function closeRevision(entry: RevisionRecord, saga: SagaRecord, outcome: SagaOutcome): RevisionRecord {
  const clusters = Object.fromEntries(saga.steps.map((step) => [step.target, wordsOf(step)]));
  const { cancelledBy } = saga;
  return {
    ...entry,
    outcome: outcome === "undone" ? "compensated" : outcome,
    clusters: cancelledBy === undefined ? clusters : { ...clusters, "*": `cancelled by ${cancelledBy}` },
  };
}

/**
 * The entry of a wish of which a later saga did what had been missing: asked for again, or repaired; undefined when that changes nothing in it.
 *
 * `record` is the deployment after that saga.
 */
export function completeRevision(
  entry: RevisionRecord,
  saga: SagaRecord,
  record: DeploymentRecord,
): RevisionRecord | undefined {
  const done = saga.steps.filter(({ state, target }) => state === "done" && entry.clusters[target] !== undefined);
  const news = done.map((step) => [step.target, wordsOf(step)] as const);
  const isAll = Object.values(record.placements).every(({ state, accepted }) => state !== "wanted" || accepted);
  const outcome = entry.outcome === "failed" && isAll ? "succeeded" : entry.outcome;
  if (outcome === entry.outcome && news.every(([cluster, words]) => entry.clusters[cluster] === words))
    return undefined;
  return { ...entry, outcome, clusters: { ...entry.clusters, ...Object.fromEntries(news) } };
}

/** The entry of a wish that a newer one took the place of before it was carried out. */
export function supersedeRevision(entry: RevisionRecord, saga: SagaRecord | undefined, by: string): RevisionRecord {
  const clusters = Object.fromEntries((saga?.steps ?? []).map((step) => [step.target, wordsOf(step)]));
  return { ...entry, outcome: "cancelled", clusters: { ...clusters, "*": `superseded by ${by}` } };
}

export interface FailedPart {
  readonly name: string;
  readonly fault: ReturnType<typeof restoreFault>;
  /** It is its undoing that failed. */
  readonly isUndoing: boolean;
  readonly words: string;
}

/** The steps that failed for good, as parts of a fault. */
export function failedParts(saga: SagaRecord): readonly FailedPart[] {
  return saga.steps.flatMap(({ action, target, fault, state, note }) => {
    if (action !== "send" || fault === undefined) return [];
    const isUndoing = state === "undo-failed";
    const words = `${target}: ${fault.message}${isUndoing ? causeIn(note) : ""}`;
    return [{ name: target, fault: restoreFault(fault), isUndoing, words }];
  });
}

/** Whether every cluster refused the wish for a reason that trying again will not mend: then it cannot be in force. */
export function isRejectedEverywhere(saga: SagaRecord): boolean {
  const sends = saga.steps.filter(({ action }) => action === "send");
  return (
    sends.length > 0 &&
    sends.every(({ state, fault }) => state === "failed" && fault !== undefined && isPermanent(fault))
  );
}

/** Whether trying again, unchanged, will not help. */
export function isPermanent(fault: StoredFault): boolean {
  return !restoreFault(fault).retryable;
}

const NOT_REACHED: StoredFault = {
  detail: { kind: "failed-precondition", subject: "roll-out" },
  code: "OAAS_FAILED_PRECONDITION",
  message: "the roll-out stopped before it came to this cluster",
};

/** What was sent is written anew, so that its generation is to be learnt again. */
function after({ fault: _fault, generation: _generation, ...placement }: Placement, step: SagaStep): Placement {
  switch (step.state) {
    case "done":
      return { ...placement, accepted: true };
    case "waiting":
      return step.action === "send" ? { ...placement, fault: NOT_REACHED } : placement;
    case "started":
    case "failed":
    case "undone":
    case "undo-failed":
      return { ...placement, accepted: false, ...faultIn(step) };
  }
}

function faultIn(step: SagaStep | undefined): { readonly fault?: StoredFault } {
  return step?.fault === undefined ? {} : { fault: step.fault };
}

function settledRecord(record: Omit<DeploymentRecord, "condition">, saga: SagaRecord, nowMs: number): DeploymentRecord {
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

/** Why something was to be undone that could not be. */
function causeIn(note: string | undefined): string {
  return note === undefined || note === "" ? "" : `; ${note}`;
}

const DEEDS: Readonly<Record<string, string>> = { send: "accepted", remove: "removed" };

function wordsOf({ action, state, note, fault }: SagaStep): string {
  const why = fault === undefined ? "" : `: ${fault.message}`;
  switch (state) {
    case "done":
      return note ?? DEEDS[action] ?? "done";
    case "failed":
      return `${action === "send" ? "not accepted" : "not removed yet"}${why}`;
    case "undone":
      return `${note ?? "put back"}${why === "" ? "" : `; it had failed${why}`}`;
    case "undo-failed":
      return `not put back yet${why}${causeIn(note)}`;
    case "started":
      return "begun";
    case "waiting":
      return "not begun";
  }
}
