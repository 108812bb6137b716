import { timestamp } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import type { ClassDeployment, ClusterName, PackageName } from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { Call } from "../use-cases.ts";
import {
  conditionOf,
  unitsOf,
  type DeploymentRecord,
  type Placement,
  type Placements,
  type RevisionRecord,
} from "./deployment-record.ts";

/** What is to be in force from now on, and who wants it. */
export interface DesiredDeployment {
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  readonly plan: DeploymentPlan;
  readonly kind: RevisionRecord["kind"];
  /** Clusters of the plan in which it is not wanted. */
  readonly withdrawn: readonly ClusterName[];
  /** Of each unit of the plan, by cluster. */
  readonly digests: Readonly<Record<ClusterName, string>>;
  readonly call: Call;
  readonly nowMs: number;
}

/** A deployment with a new wish, and the entry of the history that says so. */
export interface RevisedDeployment {
  readonly record: DeploymentRecord;
  readonly entry: RevisionRecord;
}

/** The digest of a wish: of what the user said and nothing that was made of it. */
export function specDigest(deployment: ClassDeployment): string {
  return hashJson(deployment);
}

/**
 * Puts a wish in force.
 *
 * *Guarantees*: every cluster in which a unit may be stays known, wanted or not; the units' revision is higher than any before, also
 * across a deletion or a store that lost its memory, as it follows the clock. One number more is kept for undoing it.
 */
export function applyDesired(current: DeploymentRecord | undefined, wish: DesiredDeployment): RevisedDeployment {
  const placements: Record<ClusterName, Placement> = { ...leaving(current?.placements ?? {}) };
  for (const { cluster, unitId } of unitsOf(wish.plan, wish.withdrawn)) {
    placements[cluster] = { unitId, state: "wanted", digest: wish.digests[cluster] as string, accepted: false };
  }
  return inForce(current, wish, placements);
}

/** Takes a deployment out of one cluster and leaves the others as they are. */
export function withdrawn(
  current: DeploymentRecord,
  cluster: ClusterName,
  before: RevisionRecord,
  wish: Omit<DesiredDeployment, "kind" | "digests" | "withdrawn">,
): RevisedDeployment {
  const leaver = current.placements[cluster] as Placement;
  const placements = { ...current.placements, [cluster]: { ...withoutNews(leaver), state: "withdrawn" as const } };
  const gone = [...new Set([...before.withdrawn, cluster])];
  return inForce(current, { ...wish, kind: "withdraw", digests: {}, withdrawn: gone }, placements);
}

/** Wants nothing any more; what may be left anywhere is withdrawn. */
export function deleted(current: DeploymentRecord, call: Call, nowMs: number): DeploymentRecord {
  const { desired: _, stable: __, ...rest } = current;
  const record: DeploymentRecord = {
    ...rest,
    unitRevision: nextUnitRevision(current, nowMs),
    deletion: {
      by: call.caller,
      at: timestamp(nowMs),
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    },
    placements: mapPlacements(current.placements, (placement) => ({ ...withoutNews(placement), state: "withdrawn" })),
    updatedAt: timestamp(nowMs),
  };
  return { ...record, condition: conditionOf(record) };
}

/**
 * The same wish, asked for again: with a revision higher than any that clusters may have, as after a restore of an older backup, and with
 * another try where it was refused.
 */
export function renewUnitRevision(current: DeploymentRecord, nowMs: number): DeploymentRecord {
  const { desired } = current;
  const unitRevision = nextUnitRevision(current, nowMs);
  return {
    ...current,
    ...(desired === undefined ? {} : { desired: { ...desired, unitRevision } }),
    unitRevision: unitRevision + 1,
    placements: mapPlacements(current.placements, ({ fault: _fault, ...placement }) => placement),
  };
}

function mapPlacements(placements: Placements, change: (placement: Placement) => Placement): Placements {
  return Object.fromEntries(
    (Object.entries(placements) as [ClusterName, Placement][]).map(([cluster, placement]) => [
      cluster,
      change(placement),
    ]),
  );
}

function inForce(
  current: DeploymentRecord | undefined,
  wish: DesiredDeployment,
  placements: Placements,
): RevisedDeployment {
  const { deployment, plan, call, nowMs } = wish;
  const now = timestamp(nowMs);
  const revision = (current?.revision ?? 0) + 1;
  const unitRevision = nextUnitRevision(current, nowMs);
  const desired = { revision, unitRevision };
  const { deletion: _, ...before } = current ?? {};
  const record = {
    ...before,
    deployment,
    revision,
    desired,
    unitRevision: unitRevision + 1,
    placements,
    summary: {
      replicationFactor: plan.replicas,
      selectedClusters: unitsOf(plan, wish.withdrawn).map(({ cluster }) => cluster),
      achievedQuorumAvailability: plan.achievedAvailability,
    },
    createdAt: current?.createdAt ?? now,
    updatedAt: now,
  };
  return {
    record: { ...record, condition: conditionOf(record) },
    entry: {
      revision,
      kind: wish.kind,
      digest: specDigest(deployment),
      planDigest: plan.digest,
      deployment,
      withdrawn: wish.withdrawn,
      author: call.caller,
      ...(call.reason === undefined ? {} : { reason: call.reason }),
      correlationId: call.correlationId,
      createdAt: now,
      unitRevision,
      outcome: "running",
      clusters: {},
    },
  };
}

function nextUnitRevision(current: DeploymentRecord | undefined, nowMs: number): number {
  return Math.max((current?.unitRevision ?? 0) + 1, Math.floor(nowMs));
}

function leaving(placements: Placements): Placements {
  return mapPlacements(placements, (placement) => ({
    ...withoutNews(placement),
    state: placement.state === "withdrawn" ? "withdrawn" : "leaving",
  }));
}

function withoutNews({ unitId, state }: Placement): Placement {
  return { unitId, state, accepted: false };
}
