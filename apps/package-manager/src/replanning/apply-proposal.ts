import { failedPrecondition, Fault, notFound } from "@oaas/foundation";
import { ReplanReason, type DeploymentKey } from "@oaas/models";
import { commitOnce } from "../deployments/apply-deployment.ts";
import {
  desiredEntry,
  desiredPlan,
  loadSnapshot,
  type DeploymentSnapshot,
} from "../deployments/deployment-snapshot.ts";
import type { NamedDeployment } from "../deployments/planning/gather-plan-input.ts";
import type { StagedDeployment } from "../deployments/stage-deployment.ts";
import { affectedClusters, stageRollOut } from "../deployments/stage-deployment.ts";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { DeploymentPlan, PlanRefusal } from "../planner/plan-types.ts";
import { describesRevision, type ReplanRecord } from "../records/replan-record.ts";
import type { Acknowledgement, Call, Idempotent } from "../use-cases.ts";
import { combineTransactions } from "@oaas/storage";
import { gateFor, mayMoveState } from "./moved-units.ts";
import type { ReviewDeps } from "./review-deployment.ts";

export type ProposalDeps = Pick<
  ReviewDeps,
  | "deployments"
  | "engine"
  | "launcher"
  | "planning"
  | "sender"
  | "policy"
  | "pauses"
  | "freezes"
  | "replans"
  | "clock"
  | "claims"
>;

/**
 * Puts the proposed plan of a deployment in force.
 *
 * *Guarantees*: exactly the plan with this digest is applied. It is planned again from the current state of clusters and
 * packages, and rejected with a conflict when that gives another plan.
 */
export function applyProposal(
  deps: ProposalDeps,
  key: DeploymentKey,
  digest: string,
  call: Call,
  { idempotency }: Idempotent,
): Promise<Acknowledgement> {
  return commitOnce(deps, key, () => stageProposal(deps, key, digest, call), idempotency);
}

async function stageProposal(
  deps: ProposalDeps,
  key: DeploymentKey,
  digest: string,
  call: Call,
): Promise<StagedDeployment> {
  const { deployments, planning, replans } = deps;
  const [snapshot, stored, unpaused] = await Promise.all([
    loadSnapshot(deps, key),
    replans.replan(key),
    deps.pauses.stageUnpaused(key),
  ]);
  if (snapshot.current === undefined) throw notFound("deployment", key);
  const record = proposedRecord(snapshot, stored?.record);
  const { plan: proposal } = record;
  if (proposal.digest !== digest) throw outdated(digest, `the proposed plan is "${proposal.digest}"`);
  const [before, entry] = await Promise.all([desiredPlan(deployments, snapshot), desiredEntry(deployments, snapshot)]);
  if (before === undefined || entry === undefined) throw noProposal(key, "its plan in force cannot be read");
  const deployment = entry.deployment as NamedDeployment;
  const planned = await planning.planAgain(deployment, before, mayMoveState(deployment));
  if (!planned.ok) throw outdated(digest, refusalText(planned.error));
  const { plan, packageReference, networks } = planned.value;
  if (plan.digest !== digest) throw outdated(digest, changesText(proposal, plan));
  // Leaving a lost cluster is a recovery: freeze windows do not delay it.
  const unfrozen =
    record.reason === ReplanReason.clusterLost
      ? { writes: [] }
      : await deps.freezes.stageUnfrozen(key, affectedClusters(plan, snapshot));
  const withdrawn = entry.withdrawn.filter((cluster) => plan.units.some((unit) => unit.cluster === cluster));
  const claims = await deps.claims.stage(key, plan, { current: snapshot.current.record, previous: before, networks });
  const staged = await stageRollOut(deps, snapshot, {
    claims: claims.ids,
    deployment,
    plan,
    kind: "deploy",
    withdrawn,
    call: { ...call, reason: call.reason ?? `re-planned: ${record.message}` },
    gate: gateFor(before, plan, record.lostClusters),
  });
  const { retryAt: _retryAt, code: _code, ...rest } = record;
  const applied: ReplanRecord = { ...rest, state: "applied", plan, revision: staged.revision };
  return {
    ...staged,
    plan,
    previous: before,
    references: combineTransactions(
      unpaused,
      unfrozen,
      packageReference,
      await planning.stageClusterReferences(plan, withdrawn),
    ),
    parts: [...staged.parts, claims.transaction, replans.stageReplan(key, stored, applied)],
  };
}

function proposedRecord(
  { key, current }: DeploymentSnapshot,
  record: ReplanRecord | undefined,
): ReplanRecord & Required<Pick<ReplanRecord, "plan">> {
  const inForce = current?.record.desired?.revision;
  if (record === undefined || !describesRevision(record, inForce)) throw noProposal(key, "no plan is proposed for it");
  if (record.state === "applied") throw noProposal(key, `the plan is in force since revision ${record.revision}`);
  const { plan } = record;
  if (plan === undefined) throw noProposal(key, record.message);
  return { ...record, plan };
}

function noProposal(key: DeploymentKey, why: string): Fault {
  return failedPrecondition(`deployment "${key}"`, `deployment "${key}" has no proposed plan to apply: ${why}`);
}

function outdated(digest: string, why: string): Fault {
  return new Fault(
    { kind: "conflict", resource: "plan", name: digest },
    `plan_digest "${digest}" is outdated: ${why}. Read the status of the deployment for the current proposal`,
  );
}

function refusalText(refusal: PlanRefusal): string {
  return `no such plan is possible any more: ${refusal.message}`;
}

function changesText(proposal: DeploymentPlan, plan: DeploymentPlan): string {
  const changes = comparePlans(proposal, plan).map(({ text }) => text);
  return `the clusters or their measurements changed: ${changes.join("; ")}`;
}
