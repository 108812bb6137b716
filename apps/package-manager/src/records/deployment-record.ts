import {
  combineConditions,
  DeploymentCondition,
  type ClassDeployment,
  type ClusterName,
  type DeploymentKey,
  type DeploymentSummary,
  type DriftCorrection,
  type ObservedDeployment,
  type PackageName,
  type UnitId,
  type DeploymentRevision,
  type RevisionOutcome,
} from "@oaas/models";
import { DEFAULT_REVISIONS_KEPT, type RetainedRevisions } from "../history/retention.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { StoredFault } from "../saga-engine/stored-fault.ts";

/**
 * The role of a cluster in a deployment.
 *
 * - `wanted`: the cluster must run a unit.
 * - `leaving`: a unit may be there; it is removed when every wanted unit is accepted.
 * - `withdrawn`: a unit may be there; it is removed now. The placement stays as a tombstone until the cluster confirms.
 */
export type PlacementState = "wanted" | "leaving" | "withdrawn";

/** A cluster in which the deployment has, wants, or may have left a unit. */
export interface Placement {
  readonly unitId: UnitId;
  /** The namespace that the unit was sent to; it does not change. Absent if the manager decided. */
  readonly namespace?: string;
  readonly state: PlacementState;
  /** Of the wanted unit. */
  readonly digest?: string;
  /** The cluster has accepted the wanted unit. */
  readonly accepted: boolean;
  /** Why the cluster is not in the desired state yet. */
  readonly fault?: StoredFault;
  /** The condition that the cluster last reported. */
  readonly observed?: DeploymentCondition;
  /** The cluster last reported that a unit, of this or an earlier revision, answers requests. */
  readonly serving?: true;
  /** The generation first reported after acceptance; another one means that the object was edited in the cluster. */
  readonly generation?: number;
  /** The last time that the unit was found changed or missing, and was sent again. */
  readonly drift?: DriftCorrection;
}

export type Placements = Readonly<Record<ClusterName, Placement>>;

/** A revision of the spec in force: its number in the history, and the revision its units are sent with. */
export interface DesiredRevision {
  readonly revision: number;
  readonly unitRevision: number;
}

/** A stored deployment: desired state, placements and progress. */
export interface DeploymentRecord {
  /** The spec in force, or the last one. */
  readonly deployment: ClassDeployment & { readonly packageName: PackageName };
  /** The newest revision in the history. */
  readonly revision: number;
  /** Absent while the deployment is being deleted, or when its first revision was undone. */
  readonly desired?: DesiredRevision;
  /**
   * The revision to restore when a roll-out fails: the last one that was rolled out, or is still being retried;
   * else the first one.
   */
  readonly stable?: DesiredRevision;
  /** The outcome of a revision in force, once its clusters have reported it; see `settleOutcome`. */
  readonly outcome?: { readonly revision: number; readonly outcome: RevisionOutcome; readonly at: string };
  /** The revisions that are stored; absent in records of earlier releases. */
  readonly history?: RetainedRevisions;
  /** The revision of the package that the spec in force was planned with. */
  readonly packageRevision?: number;
  /** The collections of the plan in force; absent in records of earlier releases. */
  readonly collections?: readonly string[];
  /** The claims of those collections; absent in records of earlier releases. */
  readonly claims?: readonly string[];
  /** The highest revision in use for units; grows across deletions too. */
  readonly unitRevision: number;
  readonly deletion?: { readonly by: string; readonly at: string; readonly reason?: string };
  readonly placements: Placements;
  readonly condition: DeploymentCondition;
  readonly summary: DeploymentSummary;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One history entry. Its plan is stored separately, because it never changes. */
export interface RevisionRecord extends DeploymentRevision {
  readonly kind: "deploy" | "roll_back" | "withdraw";
  readonly unitRevision: number;
  readonly correlationId: string;
  /** Clusters of the plan from which the deployment was deleted. */
  readonly withdrawn: readonly ClusterName[];
}

/** The id of a history entry. Entries of one deployment sort by number and share a prefix. */
export function revisionId(key: DeploymentKey, revision: number): string {
  return `${key}/${String(revision).padStart(10, "0")}`;
}

/** The stored revisions of a deployment. Earlier releases kept the default number. */
export function retainedRevisions({ history, revision }: DeploymentRecord): RetainedRevisions {
  return history ?? { oldest: Math.max(1, revision - DEFAULT_REVISIONS_KEPT + 1), pinned: [] };
}

/** The units of a plan, without the clusters that the deployment was withdrawn from. */
export function unitsOf(plan: DeploymentPlan, withdrawn: readonly ClusterName[]): DeploymentPlan["units"] {
  return plan.units.filter(({ cluster }) => !withdrawn.includes(cluster));
}

export function placementEntries(record: DeploymentRecord): readonly (readonly [ClusterName, Placement])[] {
  return Object.entries(record.placements) as [ClusterName, Placement][];
}

/**
 * Whether a report is about the unit of a placement. Another owner may have a unit with the same id in another namespace.
 */
export function isAbout(
  { unitId, namespace }: Pick<Placement, "unitId" | "namespace">,
  reported: { readonly unitId: UnitId; readonly namespace?: string | undefined },
): boolean {
  if (reported.unitId !== unitId) return false;
  return namespace === undefined || reported.namespace === undefined || reported.namespace === namespace;
}

/** The condition of a deployment, derived from its placements. */
export function conditionOf(
  record: Pick<DeploymentRecord, "deletion" | "desired" | "placements">,
): DeploymentCondition {
  if (record.deletion !== undefined) return DeploymentCondition.deleted;
  if (record.desired === undefined) return DeploymentCondition.down;
  return combineConditions(
    Object.values(record.placements)
      .filter(({ state }) => state === "wanted")
      .map((placement) => ({ condition: placementCondition(placement), serving: placement.serving === true })),
  );
}

function placementCondition({ accepted, fault, observed, serving }: Placement): DeploymentCondition {
  if (fault !== undefined) return serving ? DeploymentCondition.degraded : DeploymentCondition.down;
  if (accepted) return observed ?? DeploymentCondition.deploying;
  return serving ? DeploymentCondition.deploying : DeploymentCondition.pending;
}

const observedDeployments = new WeakMap<DeploymentRecord, ObservedDeployment>();

/** The record in the form of the API; the same object for the same record. */
export function observedDeployment(record: DeploymentRecord): ObservedDeployment {
  let observed = observedDeployments.get(record);
  if (observed === undefined) {
    const { deployment, condition, summary, createdAt, updatedAt } = record;
    observed = { deployment, condition, summary, createdAt, updatedAt };
    observedDeployments.set(record, observed);
  }
  return observed;
}
