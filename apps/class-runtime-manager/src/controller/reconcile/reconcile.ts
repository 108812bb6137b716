import { isFault, type Clock, type Fault } from "@oaas/foundation";
import { hasFinalizer, isBeingDeleted, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { checkAgain, settled, waitForChange, type Outcome, type ReconcileContext } from "@oaas/kube-runtime";
import type { Step } from "../../lifecycle/evaluate.ts";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import type { Reason } from "../../lifecycle/observation/reasons.ts";
import type { Applied } from "../children/apply-children.ts";
import { childId, type PresentChild } from "../children/child-cache.ts";
import { FINALIZER } from "../kinds/class-kind.ts";
import { finalize, REFUSED_MS, removeFormer } from "./finalize.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { removeChildren } from "../children/remove-children.ts";
import { without } from "../children/unconfirmed-children.ts";
import { settle } from "./write-status.ts";
import { nameTurns } from "../children/knative-names.ts";
import { strayChildren, type KnownChildren } from "../children/stray-children.ts";
import { want, type Wanted } from "./render-desired.ts";

/**
 * Brings the cluster to what one class asks for, and its status to the truth.
 *
 * finalizer → template → children applied → surplus pruned → everything observed → status, also when a step before it failed. A pass that wrote
 * children and met no problem leaves the rest to the next one, which comes at once unless users' changes wait.
 */
export async function reconcile<T extends KubeObject>(
  key: ObjectKey,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  const object = deps.own.get(key);
  const former = deps.sent.ofFormer(key, object);
  if (former) {
    const undeleted = await removeFormer(key, former, context.signal, deps);
    if (undeleted.length > 0 && !object) return checkAgain(REFUSED_MS, "what a class left may not be deleted");
    if (undeleted.length === 0) deps.sent.told(key);
  }
  if (!object) return settled();
  if (isBeingDeleted(object)) return finalize(object, context, deps);
  const current = hasFinalizer(object, FINALIZER) ? object : await addFinalizer(object, context, deps);
  const wanted = want(current, deps, "settle");
  const made: Made = wanted.expected
    ? await bringAbout(current, wanted.expected, context.signal, deps)
    : { present: await asItIs(current, context.signal, deps), problems: [], written: 0 };
  const problems = [...wanted.problems, ...made.problems];
  if (made.written > 0 && problems.length === 0 && mayDeferStatus(current, deps.deferredStatus))
    return checkAgain(1, STATUS_WAITS);
  const step = await settle(current, { wanted, problems, present: made.present, deleting: false }, context, deps);
  if (made.retry) throw made.retry;
  deps.sent.told(key);
  return outcomeOf(step, problems, deps.clock);
}

/**
 * Whether the status of this version may be written by a later pass. When many classes are created at once, their children go first; a version is
 * deferred once, so that constant changes of its children cannot keep its status from being written.
 */
export function mayDeferStatus(version: object, deferred: WeakSet<object>): boolean {
  if (deferred.has(version)) return false;
  deferred.add(version);
  return true;
}

async function addFinalizer<T extends KubeObject>(
  object: Stored<T>,
  { signal }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Stored<T>> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const written = await deps.client
    .resource(deps.subject.type)
    .patch(
      keyOf(object),
      "merge",
      { metadata: { resourceVersion, finalizers: [...finalizers, FINALIZER] } },
      { signal },
    );
  deps.own.note(written);
  return written;
}

interface Made {
  /** Children as they are after the pass. */
  readonly present: readonly PresentChild[];
  readonly problems: readonly Problem[];
  /** Children that had to be written. */
  readonly written: number;
  /** A fault that trying again may mend. */
  readonly retry?: Fault | undefined;
}

/** Applies what is wanted, and deletes what no longer is: functions that were removed, kinds of a template that was left. */
async function bringAbout<T extends KubeObject>(
  object: Stored<T>,
  { template, children }: NonNullable<Wanted["expected"]>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Made> {
  const before = deps.children.childrenOf(object.metadata.uid);
  // Before anything is made with it: a revision that is lost could not be kept to.
  const unkept = await refusalIn(deps.templates.keep(object.metadata.namespace ?? "", template, deps.client, signal));
  if (unkept !== undefined) return { present: await asItIs(object, signal, deps), problems: [unkept], written: 0 };
  const turns = nameTurns(children, before, (kind, manifest) => deps.children.get(kind, keyOf(manifest)));
  const undeleted = await removeChildren(turns.inTheWay, signal, deps);
  const unwanted = without(deps.sent.of(object), children);
  deps.sent.note(object, turns.free);
  const applied = await deps.applier.apply(turns.free, signal, namedUids(object, deps));
  const all = await withStrays(object, { known: withApplied(object, applied, deps), sent: unwanted }, signal, deps);
  const problems = [...turns.waiting, ...undeleted, ...applied.problems];
  const { written } = applied;
  // What could not be written may still be wanted: nothing is pruned by a pass that did not come through.
  if (problems.length > 0) return { present: all, problems, written, retry: applied.retry };
  const surplus = new Set(all.filter((child) => !applied.present.has(childId(child.kind, child.object))));
  return {
    problems: await removeChildren([...surplus], signal, deps),
    present: all.filter((child) => !surplus.has(child)),
    written,
  };
}

/** The problem of an account that may not do this; any other fault is thrown. */
async function refusalIn(work: Promise<void>): Promise<Problem | undefined> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    if (!isFault(thrown, "permission-denied")) throw thrown;
    return problemFromFault(thrown);
  }
}

/** What was just written is newer than the cache. */
function withApplied<T extends KubeObject>(
  object: Stored<T>,
  applied: Applied,
  deps: ReconcileDeps<T>,
): PresentChild[] {
  const there = deps.children.childrenOf(object.metadata.uid);
  const merged = new Map(there.map((child) => [childId(child.kind, child.object), child]));
  for (const [id, written] of applied.present) {
    const kind = merged.get(id)?.kind ?? deps.children.kinds.find((known) => childId(known, written) === id);
    if (kind) merged.set(id, { kind, object: written });
  }
  return [...merged.values()];
}

/** Every child, when nothing is to be made. */
function asItIs<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly PresentChild[]> {
  const known = deps.children.childrenOf(object.metadata.uid);
  return withStrays(object, { known, sent: deps.sent.of(object) }, signal, deps);
}

/** With those that no watch shows as ours. As long as the server has them they stay named, and the next pass that comes through prunes them. */
async function withStrays<T extends KubeObject>(
  object: Stored<T>,
  looked: KnownChildren,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly PresentChild[]> {
  return [...looked.known, ...(await strayChildren(object, looked, signal, deps))];
}

/** The uids of what is known to be the class's own, whatever it says itself by now. */
function namedUids<T extends KubeObject>(object: Stored<T>, { subject }: ReconcileDeps<T>): ReadonlySet<string> {
  return new Set((subject.statusOf(object)?.resource_refs ?? []).flatMap(({ uid }) => uid ?? []));
}

const STATUS_WAITS = "the children of others go before the news of these";

/** What may be mended without our hearing of it: rights, quotas, policies, objects that are not ours. */
const LOOK_AGAIN_MS: Readonly<Partial<Record<Reason, number>>> = {
  Replacing: 1_000,
  Forbidden: 30_000,
  Quota: 30_000,
  AdmissionDenied: 30_000,
  NameTaken: 30_000,
  ApplyInvalid: 60_000,
};

function outcomeOf(step: Step, problems: readonly Problem[], clock: Clock): Outcome {
  const soonest = Math.min(
    ...problems.map(({ reason }) => LOOK_AGAIN_MS[reason] ?? Infinity),
    step.checkAgainAtMs === undefined ? Infinity : Math.max(250, step.checkAgainAtMs - clock.now()),
  );
  if (Number.isFinite(soonest)) return checkAgain(soonest, "time, or somebody else, will change the answer");
  return step.status.phase === "available" ? settled() : waitForChange(step.status.message ?? "not ready yet");
}
