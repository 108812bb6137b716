import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Clock } from "@oaas/foundation";
import {
  hasFinalizer,
  isBeingDeleted,
  keyOf,
  refOf,
  type KubeObject,
  type ObjectKey,
  type Stored,
} from "@oaas/kube-core";
import {
  checkAgain,
  settled,
  waitForChange,
  type EventRecorder,
  type Informer,
  type KubeClient,
  type Outcome,
  type ReconcileContext,
} from "@oaas/kube-runtime";
import { evaluate, type Step } from "../lifecycle/evaluate.ts";
import type { Expected, Observation, Problem } from "../lifecycle/observation.ts";
import { ownStatus } from "../lifecycle/own-status.ts";
import { problem, problemFromViolations } from "../lifecycle/problem.ts";
import {
  BUILTIN_TEMPLATES,
  chooseAndRender,
  FUNCTION_KEY_ANNOTATION,
  ownerLabelValue,
  type ClusterFacts,
  type Refusal,
  type RenderInput,
} from "../templates/index.ts";
import { templateChoice } from "../templates/template-choice.ts";
import { FIELD_MANAGER, isGone, type Applied, type ChildApplier } from "./apply-children.ts";
import { childId, type ChildCache, type PresentChild } from "./child-cache.ts";
import type { PodView, Surroundings } from "./cluster-view.ts";
import type { SubjectKind } from "./subject.ts";

/** Kept on every class until nothing of it is left. */
export const FINALIZER = "oaas.io/class-runtime";

/** What reconciling one kind of subject needs. */
export interface ReconcileDeps<T extends KubeObject> {
  readonly subject: SubjectKind<T>;
  readonly informer: Informer<T>;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly children: ChildCache;
  readonly applier: ChildApplier;
  readonly surroundings: Surroundings;
  readonly pods: PodView;
  readonly events: Pick<EventRecorder, "record">;
  /** As of now: capabilities and routers may change while we run. */
  readonly facts: (namespace: string) => ClusterFacts;
}

/**
 * Brings the cluster to what one class asks for, and its status to the truth.
 *
 * finalizer → template → children applied → surplus pruned → everything observed → status, also when a step before it failed.
 */
export async function reconcile<T extends KubeObject>(
  key: ObjectKey,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  const object = deps.informer.get(key);
  if (!object) return settled();
  if (isBeingDeleted(object)) return finalize(object, context, deps);
  const current = hasFinalizer(object, FINALIZER) ? object : await addFinalizer(object, context, deps);
  const wanted = want(current, deps);
  const applied = wanted.children ? await deps.applier.apply(wanted.children, context.signal) : undefined;
  const problems = [...wanted.problems, ...(applied?.problems ?? [])];
  // What could not be written may still be wanted: nothing is pruned by a pass that did not come through.
  const present =
    applied && problems.length === 0
      ? await prune(current, applied, context, deps)
      : withApplied(current, applied, deps);
  const step = await settle(current, { wanted, problems, present, deleting: false }, context, deps);
  if (applied?.retry) throw applied.retry;
  return outcomeOf(step, deps.clock);
}

interface Wanted {
  readonly expected?: Expected;
  readonly children?: Parameters<ChildApplier["apply"]>[0];
  readonly problems: readonly Problem[];
}

/** Reads the class and lets the templates decide. Pure but for the caches it reads. */
function want<T extends KubeObject>(object: Stored<T>, deps: ReconcileDeps<T>): Wanted {
  const read = deps.subject.read(object);
  if (!read.ok) return { problems: [problemFromViolations(read.error)] };
  const namespace = object.metadata.namespace ?? "";
  const input = renderInput(object, read.value, deps);
  const templates = [...BUILTIN_TEMPLATES, ...deps.surroundings.userTemplates(namespace)];
  const chosen = chooseAndRender(input, templates);
  if (!chosen.ok) return { problems: [problemOfRefusal(chosen.error)] };
  const { selection, rendered } = chosen.value;
  const { children, functions, odgm } = rendered;
  return {
    children,
    problems: [],
    expected: { template: templateChoice(selection), children, functions, ...(odgm ? { odgm } : {}) },
  };
}

function renderInput<T extends KubeObject>(
  object: Stored<T>,
  runtime: ClassRuntime,
  deps: ReconcileDeps<T>,
): RenderInput {
  const { name, uid, labels } = object.metadata;
  const namespace = object.metadata.namespace ?? "";
  const environment = deps.surroundings.environmentOf(namespace, runtime.spec.target_environment);
  return {
    owner: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, ...(labels ? { labels } : {}) },
    spec: runtime.spec,
    cluster: deps.facts(namespace),
    assignedNames: assignedNames(deps.subject.statusOf(object), deps.children.childrenOf(uid)),
    ...(environment ? { environment } : {}),
  };
}

/** A function keeps the name it was given, whatever is added or removed around it. */
function assignedNames(
  status: ClassRuntimeStatus | undefined,
  children: readonly PresentChild[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { object } of children) {
    const key = object.metadata.annotations?.[FUNCTION_KEY_ANNOTATION];
    if (key !== undefined && ["Deployment", "StatefulSet", "DaemonSet", "Job", "Service"].includes(object.kind))
      names.set(key, object.metadata.name);
  }
  for (const { function_key: key, service } of status?.functions ?? []) if (service) names.set(key, service);
  return names;
}

function problemOfRefusal(refusal: Refusal): Problem {
  const known = refusal.known.length === 0 ? "" : ` Known: ${refusal.known.join(", ")}.`;
  const reasons = {
    missing: "TemplateMissing",
    "not-eligible": "TemplateMissing",
    "addon-unknown": "ApplyInvalid",
    "addon-disabled": "OdgmDisabled",
    invalid: "ApplyInvalid",
  } as const;
  return problem(reasons[refusal.kind], refusal.message + known);
}

async function addFinalizer<T extends KubeObject>(
  object: Stored<T>,
  { signal }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Stored<T>> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  return deps.client
    .resource(deps.subject.type)
    .patch(
      keyOf(object),
      "merge",
      { metadata: { resourceVersion, finalizers: [...finalizers, FINALIZER] } },
      { signal },
    );
}

/** Children as they are after the pass: what was just written is newer than the cache. */
function withApplied<T extends KubeObject>(
  object: Stored<T>,
  applied: Applied | undefined,
  deps: ReconcileDeps<T>,
): PresentChild[] {
  const there = deps.children.childrenOf(object.metadata.uid);
  if (!applied) return there;
  const merged = new Map(there.map((child) => [childId(child.kind, child.object), child]));
  for (const [id, written] of applied.present) {
    const kind = merged.get(id)?.kind ?? deps.children.kinds.find((known) => childId(known, written) === id);
    if (kind) merged.set(id, { kind, object: written });
  }
  return [...merged.values()];
}

/** Deletes children that are no longer wanted: functions that were removed, kinds of a template that was left. */
async function prune<T extends KubeObject>(
  object: Stored<T>,
  applied: Applied,
  { signal }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<PresentChild[]> {
  const all = withApplied(object, applied, deps);
  const surplus = all.filter((child) => !applied.present.has(childId(child.kind, child.object)));
  await Promise.all(surplus.map((child) => remove(child, signal, deps)));
  return all.filter((child) => !surplus.includes(child));
}

async function remove<T extends KubeObject>(
  { kind, object }: PresentChild,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<void> {
  deps.applier.forget(kind, object);
  if (isBeingDeleted(object)) return;
  try {
    await deps.client
      .resource(kind)
      .delete(keyOf(object), { uid: object.metadata.uid, propagation: "Background", signal });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

interface Pass {
  readonly wanted: Wanted;
  readonly problems: readonly Problem[];
  readonly present: readonly PresentChild[];
  readonly deleting: boolean;
}

/** Decides the status, and writes it when it says something new. */
async function settle<T extends KubeObject>(
  object: Stored<T>,
  pass: Pass,
  { signal }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Step> {
  const previous = deps.subject.statusOf(object);
  const first = evaluate(previous, observe(object, pass, [], deps), deps.clock.now());
  const step =
    first.status.phase === "available" || pass.deleting
      ? first
      : evaluate(previous, observe(object, pass, await warnings(object, pass, signal, deps), deps), deps.clock.now());
  if (!step.changed) return step;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  const manifest = {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    status: deps.subject.statusFor(ownStatus(step.status)),
  };
  await deps.client
    .resource(deps.subject.type)
    .apply(manifest as unknown as T, { fieldManager: FIELD_MANAGER, force: true, subresource: "status", signal });
  for (const happening of step.events) deps.events.record(happening);
  return step;
}

function observe<T extends KubeObject>(
  object: Stored<T>,
  pass: Pass,
  events: Observation["events"],
  deps: ReconcileDeps<T>,
): Observation {
  const { metadata } = object;
  const namespace = metadata.namespace ?? "";
  const label = ownerLabelValue({
    owner: { apiVersion: object.apiVersion, kind: object.kind, namespace, name: metadata.name, uid: metadata.uid },
  });
  const pods = deps.pods.podsOf(namespace, label);
  return {
    subject: refOf(object),
    generation: metadata.generation ?? 0,
    deleting: pass.deleting,
    expected: pass.wanted.expected,
    problems: pass.problems,
    children: pass.present.map((child) => child.object),
    pods,
    replicaSets: deps.pods.replicaSetsOf(namespace, label),
    nodes: deps.pods.nodesOf(pods),
    events,
  };
}

/** What is known about a class at this moment, without touching it. */
export async function observeClass<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation> {
  const wanted = want(object, deps);
  const present = deps.children.childrenOf(object.metadata.uid);
  const pass = { wanted, problems: wanted.problems, present, deleting: isBeingDeleted(object) };
  return observe(object, pass, await warnings(object, pass, signal, deps), deps);
}

/** Events are read only for a class that is not well, and a failure to read them hides nothing else. */
async function warnings<T extends KubeObject>(
  object: Stored<T>,
  pass: Pass,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation["events"]> {
  const observed = observe(object, pass, [], deps);
  return deps.pods
    .warningsAbout(
      object.metadata.namespace ?? "",
      [...observed.children, ...observed.pods, ...observed.replicaSets],
      signal,
    )
    .catch(() => []);
}

/** Deletes all children; lets the object go only after the server itself, not the cache, says that none is left. */
async function finalize<T extends KubeObject>(
  object: Stored<T>,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  if (!hasFinalizer(object, FINALIZER)) return settled();
  const present = deps.children.childrenOf(object.metadata.uid);
  await Promise.all(present.map((child) => remove(child, context.signal, deps)));
  if (present.length > 0) {
    await settle(object, { wanted: { problems: [] }, problems: [], present, deleting: true }, context, deps);
    return waitForChange("children are being deleted");
  }
  const left = await childrenOnServer(object, context.signal, deps);
  if (left > 0) return checkAgain(1_000, `${left} children are still there`);
  const { resourceVersion, finalizers = [] } = object.metadata;
  const rest = finalizers.filter((name) => name !== FINALIZER);
  try {
    await deps.client
      .resource(deps.subject.type)
      .patch(keyOf(object), "merge", { metadata: { resourceVersion, finalizers: rest } }, { signal: context.signal });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
  return settled();
}

async function childrenOnServer<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<number> {
  const { namespace = "", uid } = object.metadata;
  const counts = await Promise.all(
    deps.children.kinds.map(async (kind) => {
      let count = 0;
      for await (const child of deps.client
        .resource(kind)
        .listAll({ namespace, labelSelector: "oaas.io/owner" }, { signal })) {
        if ((child.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid)) count += 1;
      }
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function outcomeOf(step: Step, clock: Clock): Outcome {
  if (step.checkAgainAtMs !== undefined)
    return checkAgain(Math.max(250, step.checkAgainAtMs - clock.now()), "time alone will change the answer");
  return step.status.phase === "available" ? settled() : waitForChange(step.status.message ?? "not ready yet");
}
