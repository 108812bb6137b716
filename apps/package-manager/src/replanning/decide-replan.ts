import type { ClusterName, ReplanMode, ReplanReason } from "@oaas/models";
import { HOUR_MS, type ReplanSettings } from "../records/automatic-changes.ts";
import type { AutomaticChanges } from "../records/replan-record.ts";

/** A difference between the plan in force and the one that the planner returns now. */
export interface ReplanFacts {
  /** See `ownerOf`. */
  readonly owner: string;
  readonly mode: Exclude<ReplanMode, "off">;
  readonly nowMs: number;
  readonly lostClusters: readonly ClusterName[];
  /** The drain of a cluster of the deployment; moves it whatever its mode and its limits are. */
  readonly drain?: DrainFacts;
  /** The new plan; `same` when it equals the one in force, `refused` when there is none. */
  readonly plan:
    | { readonly kind: "new"; readonly isPlacementChanged: boolean; readonly texts: readonly string[] }
    | { readonly kind: "same"; readonly namesClusters: boolean }
    | { readonly kind: "refused"; readonly message: string };
  /** The class has objects, which no one permitted to lose: its units stay where they are. */
  readonly keepsState: boolean;
  /** The freeze windows of its clusters; they do not delay the move away from a lost cluster. */
  readonly freeze?: { readonly text: string; readonly untilMs: number };
  readonly changes: AutomaticChanges;
  readonly settings: ReplanSettings;
}

export interface DrainFacts {
  readonly clusters: readonly ClusterName[];
  readonly by: string;
  /** The deployment names its clusters. */
  readonly namesClusters: boolean;
  /** The revision of an earlier attempt of this request with the same plan, which was undone. */
  readonly failedRevision?: number;
}

/** What to do about a new plan. */
export type ReplanDecision =
  | { readonly action: "none" }
  | ({ readonly action: "apply" | "propose" } & Explained)
  | ({ readonly action: "block"; readonly retryAtMs?: number } & Explained);

interface Explained {
  readonly reason: ReplanReason;
  /** Why the plan is not applied now. */
  readonly code?: string;
  readonly message: string;
}

/** Decides whether a new plan is applied, proposed or blocked, with the reason in words. */
export function decideReplan(facts: ReplanFacts): ReplanDecision {
  const { plan, mode, lostClusters } = facts;
  if (facts.drain !== undefined) return decideDrain(facts, facts.drain);
  const cause = causeText(facts);
  const reason = reasonOf(facts);
  if (plan.kind === "same") {
    if (lostClusters.length === 0) return { action: "none" };
    if (facts.keepsState)
      return { action: "block", reason, code: "state", message: `${cause}; no unit is moved: ${STATE}` };
    const why = plan.namesClusters ? NAMED : "the planner keeps the running placement";
    return { action: "block", reason, code: "no_other_plan", message: `${cause}; no unit is moved: ${why}` };
  }
  if (plan.kind === "refused") {
    return {
      action: "block",
      reason,
      code: "no_plan",
      message: `${cause}; no other plan is possible: ${plan.message}`,
    };
  }
  if (mode === "propose") return { action: "propose", reason, message: `${cause}; ${APPLY}` };
  const limit = reachedLimit(facts);
  if (limit !== undefined) {
    const message = `${cause}; not applied yet: ${limit.why}`;
    return { action: "block", reason, code: limit.code, message, retryAtMs: limit.untilMs };
  }
  return { action: "apply", reason, message: cause };
}

function decideDrain({ plan, keepsState, freeze }: ReplanFacts, drain: DrainFacts): ReplanDecision {
  const reason = "drain" as const;
  const cause = `drain of ${drain.clusters.join(", ")} by ${drain.by}`;
  const block = (code: string, why: string): ReplanDecision => ({
    action: "block",
    reason,
    code,
    message: `${cause}: ${why}`,
  });
  if (plan.kind === "refused") {
    return block("no_plan", `${plan.message}${drain.namesClusters ? ", or change target_clusters" : ""}`);
  }
  const isMoved = plan.kind === "new" && plan.isPlacementChanged;
  if (keepsState && !isMoved) return block("state", `${STATE}, or drain with allow_state_loss`);
  if (plan.kind === "same") return block("no_other_plan", "the planner returns the plan in force");
  if (drain.failedRevision !== undefined) {
    const failed = `the replacement of revision ${drain.failedRevision} did not become available`;
    return block("gate", `${failed}; see its outcome in the history, fix the cause, and drain again`);
  }
  if (freeze !== undefined) {
    return {
      action: "block",
      reason,
      code: "frozen",
      message: `${cause}: not during ${freeze.text}`,
      retryAtMs: freeze.untilMs,
    };
  }
  return { action: "apply", reason, message: `${cause}: ${firstOf(plan.texts)}` };
}

const NAMED = "target_clusters names the lost clusters; change it, or remove it to let the planner choose";
const STATE =
  "the class has objects there, and the nodes of a state store are fixed while it runs; copy the objects to another " +
  "deployment with `oaas state copy`, or apply this one with other target_clusters and odgm.allow_layout_change, or set " +
  "replan_allow_state_loss";
const APPLY = "apply the plan with POST /api/v1/deployments/{key}/replan or `oaas deployment replan`";

function reasonOf({ lostClusters, plan }: ReplanFacts): ReplanReason {
  if (lostClusters.length > 0) return "cluster_lost";
  return plan.kind === "new" && !plan.isPlacementChanged ? "scale" : "placement";
}

function causeText({ lostClusters, plan }: ReplanFacts): string {
  const change = plan.kind === "new" ? `: ${firstOf(plan.texts)}` : "";
  if (lostClusters.length > 0) return `lost ${lostClusters.join(", ")}${change}`;
  if (plan.kind === "refused") return "the clusters changed";
  return plan.kind === "new" && plan.isPlacementChanged
    ? `other clusters are better by more than the margin${change}`
    : `measurements changed the scale${change}`;
}

interface ReachedLimit {
  readonly code: string;
  readonly why: string;
  readonly untilMs: number;
}

/** The limit of automatic changes that is reached, with the time when it ends; the longest one. */
function reachedLimit({
  owner,
  nowMs,
  changes,
  settings,
  freeze,
  lostClusters,
}: ReplanFacts): ReachedLimit | undefined {
  const recent = changes.changes.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
  const own = changes.changes.filter((change) => change.owner === owner);
  const last = own.at(-1)?.atMs;
  const limits: ReachedLimit[] = [];
  if (freeze !== undefined && lostClusters.length === 0) {
    limits.push({ code: "frozen", why: freeze.text, untilMs: freeze.untilMs });
  }
  if (last !== undefined && nowMs - last < settings.minIntervalMs) {
    limits.push({
      code: "min_interval",
      why: `the last automatic change was ${seconds(nowMs - last)} ago; the minimum is ${seconds(settings.minIntervalMs)} (REPLAN_MIN_INTERVAL)`,
      untilMs: last + settings.minIntervalMs,
    });
  }
  const ownRecent = recent.filter((change) => change.owner === owner);
  for (const [list, limit, code, name] of [
    [ownRecent, settings.deploymentBudget, "deployment_budget", "REPLAN_DEPLOYMENT_BUDGET"],
    [recent, settings.platformBudget, "platform_budget", "REPLAN_BUDGET"],
  ] as const) {
    if (list.length < limit) continue;
    // The time at which fewer changes than the limit are left in the hour.
    const freed = list[list.length - limit]?.atMs ?? nowMs;
    limits.push({
      code,
      why: `the budget of ${limit} automatic changes per hour is used (${name})`,
      untilMs: freed + HOUR_MS,
    });
  }
  return limits.toSorted((a, b) => b.untilMs - a.untilMs)[0];
}

/** Longer lists of changes are cut; the record of the re-plan has them. */
const MAX_TEXTS = 5;

function firstOf(texts: readonly string[]): string {
  const more = texts.length > MAX_TEXTS ? `; and ${texts.length - MAX_TEXTS} more changes` : "";
  return `${texts.slice(0, MAX_TEXTS).join("; ")}${more}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
