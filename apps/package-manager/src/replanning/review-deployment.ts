import { timestamp, equalJson, type Clock, type Ids } from "@oaas/foundation";
import { ReplanMode, type RolloutGate, type ClusterName, type DeploymentKey } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import { combineTransactions, type Condition, type KeyValueStore, type Stored, type Transaction } from "@oaas/storage";
import {
  desiredEntry,
  desiredPlan,
  loadSnapshot,
  runningSaga,
  type DeploymentSnapshot,
} from "../deployments/deployment-snapshot.ts";
import type { CollectionClaims, Networks } from "../stores/collection-claims.ts";
import type { DeploymentPauses } from "../deployments/deployment-pauses.ts";
import type { StoredFreezeCalendar } from "../deployments/freeze-calendar.ts";
import type { Planning } from "../deployments/planning/planning.ts";
import type { SagaLauncher } from "../deployments/saga-launcher.ts";
import { affectedClusters, stageRollOut } from "../deployments/stage-deployment.ts";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { BackgroundAudit, Drain } from "../ports.ts";
import type { NamedDeployment } from "../deployments/planning/gather-plan-input.ts";
import { placementEntries, type DeploymentRecord, type RevisionRecord } from "../records/deployment-record.ts";
import { freezeText } from "../records/freeze-window.ts";
import { withChange, type ReplanSettings } from "../records/automatic-changes.ts";
import { BACKGROUND } from "../records/deployment-saga.ts";
import { describesRevision, ownerOf, type ClusterOutage, type ReplanRecord } from "../records/replan-record.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import type { RolloutPolicy } from "../sagas/saga-plans.ts";
import type { UnitSender } from "../sagas/unit-sender.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { ReplanStore } from "../stores/replan-store.ts";
import { decideReplan, type ReplanDecision } from "./decide-replan.ts";
import { gateFor, isPlacementChanged, mayMoveState } from "./moved-units.ts";

export interface ReviewDeps {
  readonly store: Pick<KeyValueStore, "commit">;
  readonly deployments: DeploymentStore;
  readonly engine: Pick<SagaEngine, "get">;
  readonly launcher: SagaLauncher;
  readonly planning: Planning;
  readonly sender: Pick<UnitSender, "digest">;
  readonly policy: RolloutPolicy;
  readonly pauses: Pick<DeploymentPauses, "of" | "stageUnpaused">;
  readonly freezes: Pick<StoredFreezeCalendar, "active" | "stageUnfrozen">;
  readonly replans: ReplanStore;
  readonly claims: Pick<CollectionClaims, "stage">;
  readonly settings: ReplanSettings;
  readonly audit: BackgroundAudit;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** The state of clusters during a review. */
export interface ReviewedClusters {
  readonly outages: ReadonlyMap<ClusterName, ClusterOutage>;
  /** Clusters that may be lost: an open health check, or an outage. */
  readonly suspected: ReadonlySet<ClusterName>;
  /** Clusters that are drained. */
  readonly drains: ReadonlyMap<ClusterName, Drain>;
  /** A drain moves another deployment now. */
  readonly isDrainBusy: boolean;
}

/** The result of a review: when the next one is due, unless something changes before. */
export interface Reviewed {
  readonly result: "none" | "waiting" | "busy" | "proposed" | "blocked" | "applied";
  readonly dueAtMs?: number;
  readonly isDrain?: boolean;
}

/**
 * Plans a running deployment again and applies, stores or drops the result.
 *
 * *Guarantees*: the new revision, its saga, the record of the re-plan and the count against the budget are one
 * transaction, fenced by the lease of the re-planner: a crash at any point leaves either all of it or nothing. A
 * deployment with a running operation is left alone. Nothing is written when nothing changed.
 */
export async function reviewDeployment(
  deps: ReviewDeps,
  key: DeploymentKey,
  clusters: ReviewedClusters,
  fence: Condition | undefined,
): Promise<Reviewed> {
  const { deployments, replans, clock } = deps;
  const [snapshot, stored] = await Promise.all([loadSnapshot(deps, key), replans.replan(key)]);
  const record = snapshot.current?.record;
  const mode = record?.deployment.replan ?? ReplanMode.propose;
  if (record?.desired === undefined || record.deletion !== undefined) return drop(deps, stored, fence);
  const drain = drainOf(record, clusters.drains);
  if (mode === ReplanMode.off && drain === undefined) return drop(deps, stored, fence, record.desired.revision);
  if (runningSaga(snapshot) !== undefined) return { result: "busy" };
  const pause = deps.pauses.of(key);
  if (pause !== undefined) return { result: "waiting", dueAtMs: Date.parse(pause.until) };
  if (drain !== undefined && clusters.isDrainBusy) return { result: "busy" };
  const { lost, waiting, dueAtMs } = lostClusters(deps, record, clusters);
  if (waiting && drain === undefined) return { result: "waiting", ...(dueAtMs === undefined ? {} : { dueAtMs }) };
  const [before, entry] = await Promise.all([desiredPlan(deployments, snapshot), desiredEntry(deployments, snapshot)]);
  if (before === undefined || entry === undefined) return { result: "none" };
  const mayMove = mayMoveState(record.deployment, drain);
  const keepsState = before.odgm !== undefined && !mayMove;
  const planned = await deps.planning.planAgain(record.deployment, before, mayMove);
  const next = planned.ok ? planned.value.plan : undefined;
  const isNew = next !== undefined && next.digest !== before.digest;
  const changes = isNew ? comparePlans(before, next) : [];
  const automatic = await replans.automaticChanges();
  const stateEffect = isNew ? next.stateLoss : undefined;
  const owner = ownerOf(record);
  const namesClusters = record.deployment.targetClusters.length > 0;
  const freezes = isNew ? deps.freezes.active(affectedClusters(next, snapshot)) : [];
  const decision = decideReplan({
    owner,
    mode: mode === ReplanMode.off ? ReplanMode.propose : mode,
    nowMs: clock.now(),
    lostClusters: lost,
    ...(drain === undefined
      ? {}
      : {
          drain: {
            ...drain,
            namesClusters,
            ...failedAttempt(stored?.record, record.desired.revision, drain.at, next?.digest),
          },
        }),
    plan: isNew
      ? { kind: "new", isPlacementChanged: isPlacementChanged(before, next), texts: changes.map(({ text }) => text) }
      : planned.ok
        ? { kind: "same", namesClusters }
        : { kind: "refused", message: planned.error.message },
    ...(freezes[0] === undefined
      ? {}
      : { freeze: { text: freezeText(freezes), untilMs: Date.parse(freezes[0].until) } }),
    keepsState,
    changes: automatic?.record ?? { changes: [] },
    settings: deps.settings,
  });
  if (decision.action === "none") return drop(deps, stored, fence, record.desired.revision);
  const retryAtMs = decision.action === "block" ? decision.retryAtMs : undefined;
  const replan: ReplanRecord = {
    state: STATES[decision.action],
    ...(decision.code === undefined ? {} : { code: decision.code }),
    reason: decision.reason,
    message: decision.message,
    since: sinceOf(stored?.record, decision, lost, clusters, clock.now()),
    lostClusters: lost,
    basis: record.desired.revision,
    ...(isNew ? { plan: next } : {}),
    changes: changes.slice(0, MAX_CHANGES),
    ...(stateEffect === undefined ? {} : { stateEffect }),
    ...(retryAtMs === undefined ? {} : { retryAt: timestamp(retryAtMs) }),
    ...(drain === undefined ? {} : { drainAt: drain.at }),
    ...(decision.code === "gate" && stored?.record.revision !== undefined ? { revision: stored.record.revision } : {}),
  };
  if (decision.action !== "apply" || next === undefined || !planned.ok) {
    await putWhenChanged(deps, key, stored, replan, fence);
    return { result: replan.state, ...(retryAtMs === undefined ? {} : { dueAtMs: retryAtMs }) };
  }
  // An operator requested the drain: it does not count.
  const budget =
    drain === undefined
      ? replans.stageAutomaticChanges(
          automatic,
          withChange(automatic?.record ?? { changes: [] }, { owner, atMs: clock.now() }, deps.settings),
        )
      : { writes: [] };
  await apply(deps, {
    snapshot,
    stored,
    replan,
    plan: next,
    entry,
    before,
    networks: planned.value.networks,
    gate: gateFor(before, next, lost),
    also: [planned.value.packageReference, budget, fenced(fence)],
  });
  return { result: "applied", isDrain: drain !== undefined };
}

/** The drain of a cluster that the deployment uses; the newest request. */
function drainOf(
  record: DeploymentRecord,
  drains: ReviewedClusters["drains"],
): (Drain & { readonly clusters: readonly ClusterName[] }) | undefined {
  const clusters = placementEntries(record).flatMap(([cluster, { state }]) =>
    state === "wanted" && drains.has(cluster) ? [cluster] : [],
  );
  const requests = clusters.flatMap((cluster) => drains.get(cluster) ?? []);
  const newest = requests.toSorted((a, b) => (a.at > b.at ? -1 : 1))[0];
  return newest && { ...newest, clusters };
}

/** The revision of the same request with the same plan that was undone, because its units did not become available. */
function failedAttempt(
  stored: ReplanRecord | undefined,
  inForce: number,
  drainAt: string,
  digest: string | undefined,
): { readonly failedRevision?: number } {
  const isSameAttempt = stored?.drainAt === drainAt && stored.basis === inForce && stored.plan?.digest === digest;
  return isSameAttempt && stored.revision !== undefined ? { failedRevision: stored.revision } : {};
}

/** Differences to keep; the plan has all of them. */
const MAX_CHANGES = 50;

const STATES = { apply: "applied", propose: "proposed", block: "blocked" } as const;

interface Lost {
  readonly lost: readonly ClusterName[];
  /** A cluster may be lost, but not for long enough: the plan would change for an outage that may be short. */
  readonly waiting: boolean;
  readonly dueAtMs?: number;
}

/** The clusters of a deployment that are lost for longer than it allows. */
function lostClusters(
  { settings, clock }: Pick<ReviewDeps, "settings" | "clock">,
  record: DeploymentRecord,
  { outages, suspected }: ReviewedClusters,
): Lost {
  const seconds = record.deployment.replanClusterLostSeconds;
  const allowedMs = seconds === undefined ? settings.clusterLostMs : seconds * 1000;
  const wanted = placementEntries(record).flatMap(([cluster, { state }]) => (state === "wanted" ? [cluster] : []));
  const dueAt = (cluster: ClusterName): number => {
    const outage = outages.get(cluster);
    return outage === undefined ? Number.POSITIVE_INFINITY : Date.parse(outage.since) + allowedMs;
  };
  const lost = wanted.filter((cluster) => dueAt(cluster) <= clock.now());
  const waiting = wanted.filter((cluster) => suspected.has(cluster) && !lost.includes(cluster));
  const dueAtMs = Math.min(...waiting.map(dueAt));
  return {
    lost,
    waiting: waiting.length > 0 && lost.length === 0,
    ...(Number.isFinite(dueAtMs) ? { dueAtMs } : {}),
  };
}

/** The beginning of the outage, or of the same proposal before. */
function sinceOf(
  before: ReplanRecord | undefined,
  { reason }: Exclude<ReplanDecision, { action: "none" }>,
  lost: readonly ClusterName[],
  { outages }: ReviewedClusters,
  nowMs: number,
): string {
  const begins = lost.flatMap((cluster) => outages.get(cluster)?.since ?? []).toSorted();
  if (begins[0] !== undefined) return begins[0];
  return before?.reason === reason && before.state !== "applied" ? before.since : timestamp(nowMs);
}

function fenced(fence: Condition | undefined): Transaction {
  return fence === undefined ? { writes: [] } : { conditions: [fence], writes: [] };
}

/** Deletes a record that no longer describes the deployment; with `inForce`, keeps the one that was applied. */
async function drop(
  { store, replans }: ReviewDeps,
  stored: Stored<ReplanRecord> | undefined,
  fence: Condition | undefined,
  inForce?: number,
): Promise<Reviewed> {
  const isKept = stored?.record.state === "applied" && describesRevision(stored.record, inForce);
  if (stored !== undefined && !isKept) {
    await store.commit(combineTransactions(replans.replans.stageDelete(stored), fenced(fence)));
  }
  return { result: "none" };
}

async function putWhenChanged(
  { store, replans, logger }: ReviewDeps,
  key: DeploymentKey,
  stored: Stored<ReplanRecord> | undefined,
  replan: ReplanRecord,
  fence: Condition | undefined,
): Promise<void> {
  if (isSame(stored?.record, replan)) return;
  await store.commit(combineTransactions(replans.stageReplan(key, stored, replan), fenced(fence)));
  logger.info("re-planned deployment", {
    [LOG_FIELDS.deploymentId]: key,
    state: replan.state,
    message: replan.message,
  });
}

/** Readings in the plan change with every health check; the digest covers everything that takes effect. */
function isSame(before: ReplanRecord | undefined, after: ReplanRecord): boolean {
  if (before === undefined) return false;
  const { plan, message: _, ...rest } = before;
  const { plan: nextPlan, message: __, ...nextRest } = after;
  return plan?.digest === nextPlan?.digest && equalJson(rest, nextRest);
}

interface AutomaticRollOut {
  readonly snapshot: DeploymentSnapshot;
  readonly stored: Stored<ReplanRecord> | undefined;
  readonly replan: ReplanRecord;
  readonly plan: DeploymentPlan;
  readonly entry: RevisionRecord;
  readonly before: DeploymentPlan;
  readonly networks: Networks;
  readonly gate: RolloutGate | undefined;
  readonly also: readonly Transaction[];
}

async function apply(deps: ReviewDeps, change: AutomaticRollOut): Promise<void> {
  const { snapshot, stored, replan, plan, entry, before, networks, gate, also } = change;
  const { planning, launcher, replans, audit, ids, logger } = deps;
  const { key } = snapshot;
  const correlationId = ids.uuid();
  const caller = replan.drainAt === undefined ? BACKGROUND.replanner : BACKGROUND.drainer;
  const call = { caller, correlationId, reason: replan.message };
  const planned = new Set(plan.units.map(({ cluster }) => cluster));
  // A user deleted the deployment from these clusters: an automatic change does not bring it back.
  const withdrawn = entry.withdrawn.filter((cluster) => planned.has(cluster));
  const deployment = entry.deployment as NamedDeployment;
  const end = await audit.begin({ by: caller, action: "replanDeployment", target: `deployment/${key}`, correlationId });
  try {
    const current = snapshot.current?.record;
    const claims = await deps.claims.stage(key, plan, { current, previous: before, networks });
    const desired = { deployment, plan, kind: "deploy", withdrawn, call, gate, claims: claims.ids } as const;
    const staged = await stageRollOut(deps, snapshot, desired);
    const applied = replans.stageReplan(key, stored, { ...replan, revision: staged.revision });
    const references = await planning.stageClusterReferences(plan, withdrawn);
    const unpaused = await deps.pauses.stageUnpaused(key);
    const unfrozen =
      replan.lostClusters.length > 0
        ? { writes: [] }
        : await deps.freezes.stageUnfrozen(key, affectedClusters(plan, snapshot));
    const operations = staged.operation === undefined ? [] : [staged.operation];
    await launcher.commit(operations, [
      references,
      unpaused,
      unfrozen,
      applied,
      claims.transaction,
      ...staged.parts,
      ...also,
    ]);
    end({ status: 200, reason: replan.message });
    logger.info("applied re-plan", {
      [LOG_FIELDS.deploymentId]: key,
      [LOG_FIELDS.correlationId]: correlationId,
      revision: staged.revision,
      message: replan.message,
    });
  } catch (thrown) {
    end({ status: 409, reason: thrown instanceof Error ? thrown.message : String(thrown) });
    throw thrown;
  }
}
