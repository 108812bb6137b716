import {
  failedPrecondition,
  Fault,
  invalidArgument,
  isFault,
  notFound,
  violationsUnder,
  type Violation,
} from "@oaas/foundation";
import type { ClassDeployment, ClusterName, DeploymentKey } from "@oaas/models";
import { together, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import type { WaitResult } from "../saga-engine/waiters.ts";
import { deploySaga, renewalSaga } from "../sagas/saga-plans.ts";
import type { DeploymentSagaData } from "../records/deployment-saga.ts";
import type {
  Acknowledgement,
  Call,
  DeploymentRequest,
  Once,
  PlanRequest,
  Repeatable,
  Versioned,
} from "../use-cases.ts";
import {
  assertVersion,
  awaited,
  launch,
  putInForce,
  loadSnapshot,
  underWay,
  type DeploymentContext,
  type Launched,
  type Mark,
  type DeploymentSnapshot,
} from "./context.ts";
import type { DeploymentRecord, RevisionRecord } from "../records/deployment-record.ts";
import type { NamedDeployment } from "./planning/gather-plan-input.ts";
import { failedParts, isPermanent, type FailedPart } from "../records/deployment-outcome.ts";
import { renewUnitRevision, specDigest, applyDesired, type DesiredDeployment } from "../records/desired-deployment.ts";
import { subjectOf } from "../records/deployment-saga.ts";

type Begun = { readonly status: Acknowledgement["status"] } & Partial<Launched>;

/** What a deployment would do now; nothing is changed. */
export async function planOnly(context: DeploymentContext, request: PlanRequest): Promise<DeploymentPlan> {
  const at = await loadSnapshot(context, request.deployment.key);
  const before = await planInForce(context, at);
  const { plan } = await context.planning.plan(request, before).catch((thrown: unknown) => {
    throw isFault(thrown, "invalid-argument") ? ofQuestion(thrown.detail.violations) : thrown;
  });
  context.planning.remember(plan);
  return plan;
}

/** In a question the deployment stands beside what is assumed, not at the root. */
function ofQuestion(violations: readonly Violation[]): Fault {
  const isAssumed = ({ path }: Violation): boolean => path.startsWith("$.what_if.");
  const placed = violations.flatMap((each) => (isAssumed(each) ? [each] : violationsUnder("$.deployment", [each])));
  return invalidArgument("the plan", placed);
}

/** Puts a wish in force, or finds that it is; then waits for its acceptance. */
export async function applyDeployment(
  context: DeploymentContext,
  request: DeploymentRequest,
  call: Call,
  { ifVersion, once }: Versioned & Repeatable,
): Promise<Acknowledgement> {
  const { key } = request.deployment;
  const decide = async (): Promise<Begun> => {
    const at = await loadSnapshot(context, key);
    assertVersion(at, ifVersion);
    if (request.isKeyMade === true) assertSameClass(at, request.deployment);
    const { plan, deployment, need } = await context.planning.plan(request, await planInForce(context, at));
    if (request.planDigest !== undefined) context.planning.assertSame(plan, request.planDigest);
    const before = await entryInForce(context, at);
    if (
      before?.planDigest === plan.digest &&
      before.digest === specDigest(deployment) &&
      before.withdrawn.length === 0
    ) {
      return unchanged(context, at, call, once);
    }
    const wish = wishOf(context, { deployment, plan, kind: "deploy", withdrawn: [], call });
    return begin(context, at, { wish, need: together(need, await context.planning.needOfClusters(plan)), once });
  };
  return answer(context, key, begunBefore(context, key, once) ?? (await retryOnConflict(decide, once)));
}

/** Two classes may come to the same key when nobody names one; the later must not take the place of the earlier. */
function assertSameClass({ key, current }: DeploymentSnapshot, { packageName, classKey }: ClassDeployment): void {
  const of = current?.record.deployment;
  if (of === undefined || (of.packageName === packageName && of.classKey === classKey)) return;
  throw new Fault(
    { kind: "already-exists", resource: "deployment", name: key },
    `deployment "${key}" is one of ${of.packageName}.${of.classKey}; name another deployment_key`,
  );
}

/** Puts the plan of an earlier entry in force again, unit for unit. */
export async function rollBackDeployment(
  context: DeploymentContext,
  key: DeploymentKey,
  revision: number,
  call: Call,
  { ifVersion, once }: Versioned & Repeatable,
): Promise<Acknowledgement> {
  const decide = async (): Promise<Begun> => {
    const at = await loadSnapshot(context, key);
    if (at.current === undefined) throw notFound("deployment", key);
    assertVersion(at, ifVersion);
    const [entry, plan] = await Promise.all([
      context.deployments.revision(key, revision),
      context.deployments.plan(key, revision),
    ]);
    if (entry === undefined || plan === undefined) throw notFound("deployment revision", `${key} ${revision}`);
    if (at.current.record.desired?.revision === revision) return unchanged(context, at, call, once);
    const { deployment, withdrawn } = entry.record;
    const reason = call.reason ?? `rolled back to revision ${revision}`;
    const named = deployment as NamedDeployment;
    const need = together(await context.planning.need(named), await context.planning.needOfClusters(plan, withdrawn));
    const wish = { deployment: named, plan, kind: "roll_back", withdrawn, call: { ...call, reason } } as const;
    return begin(context, at, { wish: wishOf(context, wish), need, once });
  };
  return answer(context, key, begunBefore(context, key, once) ?? (await retryOnConflict(decide, once)));
}

/** What the mark of a request says of what it began. */
interface BegunNote {
  readonly status: Acknowledgement["status"];
  /** Not there when nothing had to be sent. */
  readonly saga?: string;
}

/** What this very request began before, to be waited for as it would have been then. */
function begunBefore(context: DeploymentContext, key: DeploymentKey, once: Once | undefined): Begun | undefined {
  if (once?.done === undefined) return undefined;
  const { status, saga: id } = once.done.note as BegunNote;
  if (id === undefined) return { status };
  const { revision } = once.done;
  return { status, id, outcome: awaited(context, key, { subject: subjectOf(key), id, revision }) };
}

function markOf(once: Once | undefined, status: BegunNote["status"]): Mark | undefined {
  return once && ((saga) => once.mark({ status, saga } satisfies BegunNote));
}

/** Asks the running operation of a deployment to stop and undo what it did. */
export async function cancelDeployment(context: DeploymentContext, key: DeploymentKey, call: Call): Promise<void> {
  const at = await loadSnapshot(context, key);
  if (at.current === undefined) throw notFound("deployment", key);
  const running = underWay(at);
  if (running === undefined) throw failedPrecondition(`deployment "${key}"`, `nothing is under way for "${key}"`);
  if (running.data.operation !== "deploy" && running.data.operation !== "roll_back") {
    const what = running.data.operation === "delete" ? "a deletion" : "a repair";
    throw failedPrecondition(`deployment "${key}"`, `${what} of "${key}" is under way, which cannot be cancelled`);
  }
  await context.engine.cancel(running.saga.subject, running.saga.id, call.caller);
}

function wishOf(context: DeploymentContext, wish: Omit<DesiredDeployment, "digests" | "nowMs">): DesiredDeployment {
  const digests = Object.fromEntries(
    wish.plan.units.map((unit) => [unit.cluster, context.sender.digest(wish.plan, unit)]),
  ) as Record<ClusterName, string>;
  return { ...wish, digests, nowMs: context.ambient.clock.now() };
}

async function begin(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  { wish, need, once }: { readonly wish: DesiredDeployment; readonly need: Transaction } & Repeatable,
): Promise<Begun> {
  const { record, entry } = applyDesired(at.current?.record, wish);
  const operation = wish.kind === "roll_back" ? "roll_back" : "deploy";
  const asked = { by: wish.call.caller, correlationId: wish.call.correlationId };
  const saga = deploySaga(record, operation, context.policy, asked);
  const isNew = at.current === undefined || at.current.record.deletion !== undefined;
  const status = isNew ? "created" : "updated";
  const written = { record, entry, plan: wish.plan, saga, also: need };
  return { status, ...(await putInForce(context, at, written, markOf(once, status))) };
}

/** Nothing is written, and nothing sent, unless units are known to be missing, refused or left over. */
async function unchanged(
  context: DeploymentContext,
  at: DeploymentSnapshot,
  call: Call,
  once: Once | undefined,
): Promise<Begun> {
  const status = "unchanged";
  const running = underWay(at);
  if (running !== undefined && at.saga !== undefined) {
    const { subject, id } = running.saga;
    const outcome = awaited(context, at.key, { subject, id, revision: at.saga.revision });
    return { status, id, outcome };
  }
  const current = at.current as NonNullable<DeploymentSnapshot["current"]>;
  const record = renewUnitRevision(current.record, context.ambient.clock.now());
  const asked = { by: call.caller, correlationId: call.correlationId };
  const saga = renewalSaga(record, context.policy, asked);
  const put = context.deployments.stagePut(at.key, current, record);
  if (saga !== undefined) return { status, ...(await launch(context, at, saga, [put], markOf(once, status))) };
  // What clusters have beyond the wish is surplus from now on.
  if ((await context.unaccounted.ofDeployment(at.key)).length > 0)
    await context.store.commit(once === undefined ? put : together(put, once.mark({ status } satisfies BegunNote)));
  return { status };
}

async function planInForce(
  context: DeploymentContext,
  { key, current }: DeploymentSnapshot,
): Promise<DeploymentPlan | undefined> {
  const desired = current?.record.desired;
  return desired && context.deployments.plan(key, desired.revision);
}

async function entryInForce(
  context: DeploymentContext,
  { key, current }: DeploymentSnapshot,
): Promise<RevisionRecord | undefined> {
  const desired = current?.record.desired;
  return desired && (await context.deployments.revision(key, desired.revision))?.record;
}

async function answer(context: DeploymentContext, key: DeploymentKey, begun: Begun): Promise<Acknowledgement> {
  const waited = await begun.outcome;
  // The wish is written: a store that went away since is no reason to say otherwise.
  const stored = await context.deployments.get(key).catch(() => undefined);
  if (waited?.state === "ended") assertCarriedOut(key, waited.saga, stored?.record);
  const version = stored?.revision;
  const about = { id: firstUnit(stored?.record) ?? key, key, ...(version === undefined ? {} : { version }) };
  if (waited === undefined) return { ...about, status: begun.status };
  if (waited.state === "ended") {
    const message = leftOf(waited.saga);
    return { ...about, status: begun.status, ...(message === "" ? {} : { message }) };
  }
  return { ...about, status: "accepted", message: MEANWHILE[waited.state] };
}

/** What did not come about everywhere, and whether it still will by itself. */
function leftOf({ steps }: SagaRecord): string {
  const [goesOn, refused]: [string[], string[]] = [[], []];
  for (const { target, fault } of steps) {
    if (fault !== undefined) (isPermanent(fault) ? refused : goesOn).push(`${target}: ${fault.message}`);
  }
  return [
    ...(goesOn.length === 0 ? [] : [`goes on in the background: ${goesOn.join("; ")}`]),
    ...(refused.length === 0 ? [] : [`refused, and tried again only when it is applied again: ${refused.join("; ")}`]),
  ].join("; ");
}

/** The unit in the first of its clusters: what those who ask for a deployment have always been told to follow it by. */
function firstUnit(record: DeploymentRecord | undefined): string | undefined {
  const [first] = record?.summary.selectedClusters ?? [];
  return first === undefined ? undefined : record?.placements[first]?.unitId;
}

const MEANWHILE: Readonly<Record<Exclude<WaitResult["state"], "ended">, string>> = {
  waiting: "not every cluster has accepted it yet; it goes on",
  superseded: "a newer request took its place before it was carried out",
  gone: "it was deleted before it was carried out",
};

/** Throws when nothing came of it: every cluster failed, or it was undone; and when it stopped, as it was told to, before its end. */
function assertCarriedOut(key: DeploymentKey, saga: SagaRecord, record: DeploymentRecord | undefined): void {
  if (saga.state === "cancelled") {
    throw new Fault({ kind: "cancelled" }, `the operation on deployment "${key}" was cancelled by ${saga.cancelledBy}`);
  }
  const parts = failedParts(saga);
  const isRepair = (saga.data as DeploymentSagaData).operation === "repair";
  // A repair sends only what is missing; what runs elsewhere runs on.
  const isHopeless = isRepair
    ? !Object.values(record?.placements ?? {}).some(({ state, accepted }) => state === "wanted" && accepted)
    : saga.steps.every(({ action, state }) => action !== "send" || state === "failed");
  const isStopped = saga.onFailure === "stop" && saga.state === "failed";
  if (parts.length === 0 || !(saga.state === "undone" || isHopeless || isStopped)) return;
  const what =
    saga.state === "undone" ? "was undone, because it failed" : isStopped ? "stopped, because it failed" : "failed";
  const [undoings, causes] = [parts.filter(({ isUndoing }) => isUndoing), parts.filter(({ isUndoing }) => !isUndoing)];
  const why = causes.length === 0 ? what : `${what} in ${inWords(causes)}`;
  const left = undoings.length === 0 ? "" : `; it is not put back yet in ${inWords(undoings)}`;
  // Nobody is to take it for dropped, who will see it come about later.
  const goesOn = saga.state === "failed" && parts.some(({ fault }) => fault.retryable) ? STILL_WANTED : "";
  const named = parts.map(({ name, fault }) => ({ name, fault }));
  throw new Fault({ kind: "partial-failure", parts: named }, `deployment "${key}" ${why}${left}${goesOn}`);
}

const STILL_WANTED =
  "; it stays wanted, and is carried out where that passes: delete it, or roll it back, to take it back";

function inWords(parts: readonly FailedPart[]): string {
  return parts.map(({ words }) => words).join("; ");
}
