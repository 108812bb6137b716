import {
  DeploymentCondition,
  worstCondition,
  type ClassDeployment,
  type ClusterName,
  type DeploymentKey,
  type DeploymentSummary,
  type ObservedDeployment,
  type PackageName,
  type UnitId,
} from "@oaas/models";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { StoredFault } from "../saga-engine/stored-fault.ts";
import type { DeploymentRevision } from "../use-cases.ts";

/**
 * What a cluster is to a deployment. `wanted`: a unit is to be there. `leaving`: one may be there and goes as soon as
 * everything wanted is accepted. `withdrawn`: one may be there and goes now; while its cluster is out of reach, a tombstone.
 */
export type PlacementState = "wanted" | "leaving" | "withdrawn";

/** One cluster in which a unit of the deployment is, is to be, or may be left. */
export interface Placement {
  readonly unitId: UnitId;
  readonly state: PlacementState;
  /** Of the unit that is wanted there. */
  readonly digest?: string;
  /** The cluster has accepted what is wanted. */
  readonly accepted: boolean;
  /** Why it is not yet as it should be. */
  readonly fault?: StoredFault;
  /** What the cluster last said about it. */
  readonly observed?: DeploymentCondition;
  /** Its generation when it was first seen as accepted; another one means that somebody else wrote to it. */
  readonly generation?: number;
}

export type Placements = Readonly<Record<ClusterName, Placement>>;

/** A wish that is, or was, to be in force, by its number in the history and the revision its units are sent with. */
export interface DesiredRevision {
  readonly revision: number;
  readonly unitRevision: number;
}

/** A deployment as it is kept: what is wanted, where something may be, and how far it has come. */
export interface DeploymentRecord {
  /** The wish in force, or the last there was. */
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  /** The newest entry of the history. */
  readonly revision: number;
  /** Absent: nothing is wanted, because it is being deleted or its first wish was undone. */
  readonly desired?: DesiredRevision;
  /** What a wish that fails is undone to: the last one that was, or by itself will be, carried out to its end; else the first there was. */
  readonly stable?: DesiredRevision;
  /** The highest revision that units were sent with; grows even past a deletion. */
  readonly unitRevision: number;
  readonly deletion?: { readonly by: string; readonly at: string; readonly reason?: string };
  readonly placements: Placements;
  readonly condition: DeploymentCondition;
  readonly summary: DeploymentSummary;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One entry of the history; its plan is kept beside it, as it never changes. */
export interface RevisionRecord extends DeploymentRevision {
  readonly kind: "deploy" | "roll_back" | "withdraw";
  readonly unitRevision: number;
  readonly correlationId: string;
  /** Clusters of the plan that were given up by a deletion in one cluster. */
  readonly withdrawn: readonly ClusterName[];
}

/** The number of an entry, so that entries of one deployment sort and can be deleted together. */
export function revisionId(key: DeploymentKey, revision: number): string {
  return `${key}/${String(revision).padStart(10, "0")}`;
}

/** The units that a plan wants, without the clusters it was withdrawn from. */
export function unitsOf(plan: DeploymentPlan, withdrawn: readonly ClusterName[]): DeploymentPlan["units"] {
  return plan.units.filter(({ cluster }) => !withdrawn.includes(cluster));
}

export function placementEntries(record: DeploymentRecord): readonly (readonly [ClusterName, Placement])[] {
  return Object.entries(record.placements) as [ClusterName, Placement][];
}

/** How a deployment is, from what its placements say. */
export function conditionOf(
  record: Pick<DeploymentRecord, "deletion" | "desired" | "placements">,
): DeploymentCondition {
  if (record.deletion !== undefined) return DeploymentCondition.deleted;
  if (record.desired === undefined) return DeploymentCondition.down;
  return worstCondition(
    Object.values(record.placements)
      .filter(({ state }) => state === "wanted")
      .map(({ accepted, fault, observed }) => {
        if (fault !== undefined) return DeploymentCondition.down;
        return accepted ? (observed ?? DeploymentCondition.deploying) : DeploymentCondition.pending;
      }),
  );
}

const observed = new WeakMap<DeploymentRecord, ObservedDeployment>();

/** The record as the API tells it; the same object for the same record. */
export function observedDeployment(record: DeploymentRecord): ObservedDeployment {
  let told = observed.get(record);
  if (told === undefined) {
    const { deployment, condition, summary, createdAt, updatedAt } = record;
    told = { deployment, condition, summary, createdAt, updatedAt };
    observed.set(record, told);
  }
  return told;
}
