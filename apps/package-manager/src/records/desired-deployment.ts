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

/** The desired state of a deployment, and the request for it. */
export interface DesiredDeployment {
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  readonly plan: DeploymentPlan;
  readonly kind: RevisionRecord["kind"];
  /** Clusters of the plan to leave out. */
  readonly withdrawn: readonly ClusterName[];
  /** Ids of the claims of its collections. */
  readonly claims: readonly string[];
  /** Of each unit of the plan, by cluster. */
  readonly digests: Readonly<Record<ClusterName, string>>;
  readonly call: Call;
  readonly nowMs: number;
}

/** A deployment with a new revision, and the history entry of that revision. */
export interface RevisedDeployment {
  readonly record: DeploymentRecord;
  readonly entry: RevisionRecord;
}

/** The digest of the spec as the user sent it, without anything derived from it. */
export function specDigest(deployment: ClassDeployment): string {
  return hashJson(deployment);
}

/**
 * Puts a desired deployment in force.
 *
 * *Guarantees*: every cluster that may have a unit keeps its placement. The unit revision is higher than all before,
 * also after a deletion or the loss of the store, because it follows the clock. The next number is reserved for undoing.
 */
export function applyDesired(current: DeploymentRecord | undefined, desired: DesiredDeployment): RevisedDeployment {
  const placements: Record<ClusterName, Placement> = { ...leaving(current?.placements ?? {}) };
  for (const { cluster, unitId, namespace } of unitsOf(desired.plan, desired.withdrawn)) {
    const digest = desired.digests[cluster] as string;
    const planned = namespace === undefined ? {} : { namespace };
    placements[cluster] = { ...planned, ...placements[cluster], unitId, state: "wanted", digest, accepted: false };
  }
  const revised = newRevision(current, desired, placements);
  const { collections = [] } = desired.plan.odgm ?? {};
  return { ...revised, record: { ...revised.record, collections, claims: desired.claims } };
}

/** Removes a deployment from one cluster; the other placements do not change. */
export function withdrawFromCluster(
  current: DeploymentRecord,
  cluster: ClusterName,
  before: RevisionRecord,
  desired: Omit<DesiredDeployment, "kind" | "digests" | "withdrawn" | "claims">,
): RevisedDeployment {
  const placement = current.placements[cluster] as Placement;
  const placements = { ...current.placements, [cluster]: { ...withoutStatus(placement), state: "withdrawn" as const } };
  const withdrawn = [...new Set([...before.withdrawn, cluster])];
  return newRevision(current, { ...desired, kind: "withdraw", digests: {}, withdrawn }, placements);
}

/** Marks a deployment as deleted and withdraws all its placements. */
export function markDeleted(current: DeploymentRecord, call: Call, nowMs: number): DeploymentRecord {
  const { desired: _, stable: __, ...rest } = current;
  const record: DeploymentRecord = {
    ...rest,
    unitRevision: nextUnitRevision(current, nowMs),
    deletion: {
      by: call.caller,
      at: timestamp(nowMs),
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    },
    placements: mapPlacements(current.placements, (placement) => ({ ...withoutStatus(placement), state: "withdrawn" })),
    updatedAt: timestamp(nowMs),
  };
  return { ...record, condition: conditionOf(record) };
}

/**
 * The same desired state with a new unit revision, for an unchanged spec that is applied again.
 *
 * The revision is higher than any in the clusters, as after a restore of an older backup; rejected units are retried.
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

function newRevision(
  current: DeploymentRecord | undefined,
  next: Omit<DesiredDeployment, "claims">,
  placements: Placements,
): RevisedDeployment {
  const { deployment, plan, call, nowMs } = next;
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
    packageRevision: plan.shared.packageRevision,
    unitRevision: unitRevision + 1,
    placements,
    summary: {
      replicationFactor: plan.replicas,
      selectedClusters: unitsOf(plan, next.withdrawn).map(({ cluster }) => cluster),
      achievedQuorumAvailability: plan.achievedAvailability,
      ...namespacesOf(plan, next.withdrawn),
    },
    createdAt: current?.createdAt ?? now,
    updatedAt: now,
  };
  return {
    record: { ...record, condition: conditionOf(record) },
    entry: {
      revision,
      kind: next.kind,
      digest: specDigest(deployment),
      planDigest: plan.digest,
      deployment,
      withdrawn: next.withdrawn,
      author: call.caller,
      ...(call.reason === undefined ? {} : { reason: call.reason }),
      correlationId: call.correlationId,
      createdAt: now,
      unitRevision,
      outcome: "accepted",
      clusters: {},
    },
  };
}

/** The known namespaces of the units of a plan, for the summary of a deployment. */
export function namespacesOf(
  plan: DeploymentPlan,
  withdrawn: readonly ClusterName[],
): { readonly namespaces?: readonly string[] } {
  const names = new Set(unitsOf(plan, withdrawn).flatMap(({ namespace }) => namespace ?? []));
  return names.size === 0 ? {} : { namespaces: [...names].sort() };
}

function nextUnitRevision(current: DeploymentRecord | undefined, nowMs: number): number {
  return Math.max((current?.unitRevision ?? 0) + 1, Math.floor(nowMs));
}

function leaving(placements: Placements): Placements {
  return mapPlacements(placements, (placement) => ({
    ...withoutStatus(placement),
    state: placement.state === "withdrawn" ? "withdrawn" : "leaving",
  }));
}

function withoutStatus({ unitId, namespace, state, serving }: Placement): Placement {
  return {
    unitId,
    ...(namespace === undefined ? {} : { namespace }),
    state,
    accepted: false,
    ...(serving && { serving }),
  };
}
