import { isFault, type Clock, type Fault } from "@oaas/foundation";
import { hasFinalizer, isBeingDeleted, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { checkAgain, settled, waitForChange, type Outcome, type ReconcileContext } from "@oaas/kube-runtime";
import type { LifecycleStep } from "../../lifecycle/evaluate.ts";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import type { Reason } from "../../lifecycle/observation/reasons.ts";
import type { ApplyResult } from "../children/apply-children.ts";
import { childId, type LiveChild } from "../children/child-cache.ts";
import { FINALIZER } from "../kinds/class-kind.ts";
import { finalize, FORBIDDEN_RETRY_MS, removePredecessorChildren } from "./finalize.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { removeChildren } from "../children/remove-children.ts";
import { excludeChildren } from "../children/unconfirmed-children.ts";
import { findMissingReferences, writeStatus, type PassResult } from "./write-status.ts";
import { resolveNameConflicts } from "../children/knative-names.ts";
import { scaleRevisions } from "../children/revision-scale.ts";
import { ownerLabelValue, type WorkloadRef } from "../../templates/index.ts";
import { findStrayChildren, type KnownChildren } from "../children/stray-children.ts";
import { restartStore, type StoreRestart } from "./restart-store.ts";
import { renderDesired, type DesiredChildren } from "./render-desired.ts";

/**
 * Reconciles one class: finalizer, template, apply children, prune surplus children, observe, write status. The status
 * is written even if an earlier step failed. A pass that wrote children without problems leaves the status to the next
 * pass, which follows at once unless changes by users are queued.
 */
export async function reconcile<T extends KubeObject>(
  key: ObjectKey,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  const object = deps.ownWrites.get(key);
  const predecessor = deps.unconfirmed.ofPredecessor(key, object);
  if (predecessor) {
    const undeleted = await removePredecessorChildren(key, predecessor, context.signal, deps);
    if (undeleted.length > 0 && !object)
      return checkAgain(FORBIDDEN_RETRY_MS, "children of a deleted class could not be deleted");
    if (undeleted.length === 0) deps.unconfirmed.clear(key);
  }
  if (!object) return settled();
  if (isBeingDeleted(object)) return finalize(object, context, deps);
  const current = hasFinalizer(object, FINALIZER) ? object : await addFinalizer(object, context, deps);
  const desired = renderDesired(current, deps, "admit");
  const outcome: ApplyOutcome = desired.expected
    ? await applyChildren(current, desired.expected, context.signal, deps)
    : { live: await listChildren(current, context.signal, deps), problems: [], written: 0 };
  const problems = [...desired.problems, ...outcome.problems];
  if (outcome.written > 0 && problems.length === 0 && mayDeferStatus(current, deps.deferredStatus))
    return checkAgain(1, STATUS_DEFERRED);
  const missingReferences = await findMissingReferences(current, desired, context.signal, deps);
  const children = outcome.live.map((child) => child.object);
  const store: StoreRestart<T> =
    problems.length > 0 || desired.expected?.odgm === undefined
      ? {}
      : await restartStore(current, { children, held: desired.expected.odgm.held }, context, deps);
  const pass = { desired, problems, live: outcome.live, deleting: false, missingReferences, store };
  const step = await writeStatus(store.object ?? current, pass, context, deps);
  const retry =
    outcome.retry ?? (problems.length === 0 ? await resizePods(current, desired, context.signal, deps) : undefined);
  if (retry) throw retry;
  deps.unconfirmed.clear(key);
  return outcomeOf(step, { problems, missingReferences, store }, deps.clock);
}

/**
 * Whether the status of this version may be written by a later pass. When many classes are created at once, their
 * children go first; a version is deferred once, so that constant changes of its children cannot keep its status from
 * being written.
 */
export function mayDeferStatus(version: object, deferred: WeakSet<object>): boolean {
  if (deferred.has(version)) return false;
  deferred.add(version);
  return true;
}

/** Gives running pods the CPU and memory that enforcement chose. Returns a fault worth a retry. */
async function resizePods<T extends KubeObject>(
  object: Stored<T>,
  { expected }: DesiredChildren,
  signal: AbortSignal,
  { facts, pods, resizer }: ReconcileDeps<T>,
): Promise<Fault | undefined> {
  const { namespace = "", name } = object.metadata;
  if (expected === undefined || !facts(namespace).capabilities.podResize) return undefined;
  return resizer.resize(object, expected.functions, pods.podsOf(namespace, ownerLabelValue(name)), signal);
}

async function addFinalizer<T extends KubeObject>(
  object: Stored<T>,
  { signal }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Stored<T>> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const written = await deps.client
    .resource(deps.classKind.type)
    .patch(
      keyOf(object),
      "merge",
      { metadata: { resourceVersion, finalizers: [...finalizers, FINALIZER] } },
      { signal },
    );
  deps.ownWrites.record(written);
  return written;
}

interface ApplyOutcome {
  /** The children after the pass. */
  readonly live: readonly LiveChild[];
  readonly problems: readonly Problem[];
  /** How many children were written. */
  readonly written: number;
  /** A fault worth a retry. */
  readonly retry?: Fault | undefined;
}

/** Applies the desired children and prunes the others: removed functions, kinds of a previous template. */
async function applyChildren<T extends KubeObject>(
  object: Stored<T>,
  { template, children, odgm }: NonNullable<DesiredChildren["expected"]>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<ApplyOutcome> {
  const before = deps.children.childrenOf(object.metadata.uid);
  // The revision is saved before it is used, so that the class can stay on it.
  const forbidden = await forbiddenProblem(
    deps.templates.saveRevision(object.metadata.namespace ?? "", template, deps.client, signal),
  );
  if (forbidden) return { live: await listChildren(object, signal, deps), problems: [forbidden], written: 0 };
  const names = resolveNameConflicts(children, before, (kind, manifest) => deps.children.get(kind, keyOf(manifest)));
  const replaced = before.filter((child) => isNamedBy(odgm?.replaced, child));
  const undeleted = await removeChildren([...names.blocking, ...replaced], signal, deps);
  const unconfirmed = excludeChildren(deps.unconfirmed.of(object), children);
  deps.unconfirmed.record(object, names.applicable);
  const scaled = await scaleRevisions(names.applicable, deps, signal);
  const applied = await deps.applier.apply(scaled.applicable, signal, statusUids(object, deps));
  deps.drift.add(object.metadata.uid, applied.corrections);
  const all = await addStrays(object, { known: mergeApplied(object, applied, deps), unconfirmed }, signal, deps);
  const problems = [...names.blocked, ...undeleted, ...scaled.problems, ...applied.problems];
  const { written } = applied;
  // A failed pass prunes nothing: a child that could not be written may still be in use.
  if (problems.length > 0) return { live: all, problems, written, retry: applied.retry ?? scaled.retry };
  const surplus = new Set(
    all.filter((child) => !applied.live.has(childId(child.kind, child.object)) && !isNamedBy(odgm?.held, child)),
  );
  return {
    problems: await removeChildren([...surplus], signal, deps),
    live: all.filter((child) => !surplus.has(child)),
    written,
  };
}

function isNamedBy(refs: readonly WorkloadRef[] = [], { object }: LiveChild): boolean {
  return refs.some(
    ({ apiVersion, kind, name }) =>
      object.apiVersion === apiVersion && object.kind === kind && object.metadata.name === name,
  );
}

/** Returns a missing permission as a problem and throws any other fault. */
async function forbiddenProblem(work: Promise<void>): Promise<Problem | undefined> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    if (!isFault(thrown, "permission-denied")) throw thrown;
    return problemFromFault(thrown);
  }
}

/** Merges the applied children into the cached ones: the cache may lag behind. */
function mergeApplied<T extends KubeObject>(
  object: Stored<T>,
  applied: ApplyResult,
  deps: ReconcileDeps<T>,
): LiveChild[] {
  const cached = deps.children.childrenOf(object.metadata.uid);
  const merged = new Map(cached.map((child) => [childId(child.kind, child.object), child]));
  for (const [id, written] of applied.live) {
    const kind = merged.get(id)?.kind ?? deps.children.kinds.find((known) => childId(known, written) === id);
    if (kind) merged.set(id, { kind, object: written });
  }
  return [...merged.values()];
}

/** Lists every child of the class, strays included. */
function listChildren<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly LiveChild[]> {
  const known = deps.children.childrenOf(object.metadata.uid);
  return addStrays(object, { known, unconfirmed: deps.unconfirmed.of(object) }, signal, deps);
}

/** Adds the children that no watch shows as ours. The status lists them until a complete pass prunes them. */
async function addStrays<T extends KubeObject>(
  object: Stored<T>,
  children: KnownChildren,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly LiveChild[]> {
  return [...children.known, ...(await findStrayChildren(object, children, signal, deps))];
}

/** Uids of the children that the status lists, even if they lost their owner reference. */
export function statusUids<T extends KubeObject>(
  object: Stored<T>,
  { classKind: subject }: ReconcileDeps<T>,
): ReadonlySet<string> {
  return new Set((subject.statusOf(object)?.resource_refs ?? []).flatMap(({ uid }) => uid ?? []));
}

const STATUS_DEFERRED = "children of other classes are applied first";

/**
 * Delay before a recheck, for problems whose solution triggers no event: permissions, quotas, policies, objects of
 * other owners.
 */
const RECHECK_MS: Readonly<Partial<Record<Reason, number>>> = {
  Replacing: 1_000,
  Forbidden: 30_000,
  Quota: 30_000,
  AdmissionDenied: 30_000,
  NameTaken: 30_000,
  ApplyInvalid: 60_000,
};

/** Delay before missing references are checked again: their creation triggers no event. */
const MISSING_RECHECK_MS = 3_000;

function outcomeOf(
  step: LifecycleStep,
  { problems, missingReferences, store }: Required<Pick<PassResult, "problems" | "missingReferences" | "store">>,
  clock: Clock,
): Outcome {
  const soonest = Math.min(
    ...(missingReferences.length > 0 ? [MISSING_RECHECK_MS] : []),
    store.recheckMs ?? Infinity,
    ...problems.map(({ reason }) => RECHECK_MS[reason] ?? Infinity),
    step.recheckAtMs === undefined ? Infinity : Math.max(250, step.recheckAtMs - clock.now()),
  );
  if (Number.isFinite(soonest)) return checkAgain(soonest, "recheck a problem that triggers no event");
  return step.status.phase === "available" ? settled() : waitForChange(step.status.message ?? "not ready yet");
}
