import { notFound } from "@oaas/foundation";
import { omitUndefined } from "@oaas/contracts/rest";
import { DrainedUnitState, ReplanReason, type ClusterName, type DrainedUnit, type DrainProgress } from "@oaas/models";
import type { CollectionView } from "@oaas/storage";
import { pauseText, type DeploymentPauses } from "../deployments/deployment-pauses.ts";
import type { ClusterDirectory } from "../ports.ts";
import type { DeploymentRecord, Placement } from "../records/deployment-record.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import { describesRevision, type ReplanRecord } from "../records/replan-record.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import type { ReplanStore } from "../stores/replan-store.ts";

export interface DrainProgressDeps {
  readonly view: Pick<CollectionView<DeploymentRecord>, "all">;
  readonly engine: Pick<SagaEngine, "peek">;
  readonly replans: Pick<ReplanStore, "replan">;
  readonly pauses: Pick<DeploymentPauses, "of">;
  readonly clusters: Pick<ClusterDirectory, "get">;
}

/** A cluster may have thousands of deployments, and clients poll. */
const READS_AT_ONCE = 64;

/** The progress of the drain of a cluster: the deployments that still have a unit there. */
export async function readDrainProgress(deps: DrainProgressDeps, cluster: ClusterName): Promise<DrainProgress> {
  const entry = deps.clusters.get(cluster);
  if (entry === undefined) throw notFound("cluster", cluster);
  const drain = entry.cordon?.drain;
  const left =
    drain === undefined ? [] : [...deps.view.all()].filter(({ record }) => Object.hasOwn(record.placements, cluster));
  const remaining: DrainedUnit[] = [];
  for (let start = 0; start < left.length; start += READS_AT_ONCE) {
    const units = left.slice(start, start + READS_AT_ONCE).map(({ record }) => readUnit(deps, cluster, record));
    remaining.push(...(await Promise.all(units)));
  }
  return omitUndefined({
    cluster,
    state: stateOf(drain !== undefined, remaining),
    requestedBy: drain?.by,
    requestedAt: drain?.at,
    remaining,
  });
}

async function readUnit(deps: DrainProgressDeps, cluster: ClusterName, record: DeploymentRecord): Promise<DrainedUnit> {
  const { key } = record.deployment;
  const pause = deps.pauses.of(key);
  if (pause !== undefined) return { deployment: key, state: DrainedUnitState.blocked, message: pauseText(pause) };
  const saga = deps.engine.peek(subjectOf(key));
  const replan = (await deps.replans.replan(key))?.record;
  const isCurrent = replan !== undefined && describesRevision(replan, record.desired?.revision);
  const isRunning = saga !== undefined && isOpen(saga);
  const placement = record.placements[cluster] as Placement;
  return { deployment: key, ...unitProgress(placement, isRunning, isCurrent ? replan : undefined) };
}

function stateOf(isRequested: boolean, remaining: readonly DrainedUnit[]): DrainProgress["state"] {
  if (!isRequested) return "none";
  if (remaining.length === 0) return "drained";
  return remaining.every(({ state }) => state === DrainedUnitState.blocked) ? "blocked" : "draining";
}

function unitProgress(
  { state, fault }: Placement,
  isRunning: boolean,
  replan: ReplanRecord | undefined,
): Omit<DrainedUnit, "deployment"> {
  if (isRunning) {
    return { state: DrainedUnitState.moving, message: "waits until its replacement is available, then it is removed" };
  }
  if (state !== "wanted") {
    const why = fault === undefined ? "the other units of the deployment are not in place" : fault.message;
    return { state: DrainedUnitState.blocked, message: `not removed yet: ${why}` };
  }
  if (replan?.state === "blocked" && replan.reason === ReplanReason.drain) {
    return { state: DrainedUnitState.blocked, message: replan.message };
  }
  return { state: DrainedUnitState.waiting, message: "deployments move one by one" };
}
