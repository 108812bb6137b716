import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { isBeingDeleted, refOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { ReconcileContext } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import { isPodReady } from "../../lifecycle/diagnosis/diagnose-pod.ts";
import { evaluate, type LifecycleStep } from "../../lifecycle/evaluate.ts";
import type { MissingReference, Observation, Problem } from "../../lifecycle/observation/observation.ts";
import { conditionIn, type Workload } from "../../lifecycle/observation/observed-objects.ts";
import { ownStatus } from "../../lifecycle/status/field-ownership.ts";
import { isWorkload } from "../../lifecycle/diagnosis/readiness.ts";
import { ownerLabelValue } from "../../templates/index.ts";
import { classEventAnnotations } from "./log-fields.ts";
import type { LiveChild } from "../children/child-cache.ts";
import { FIELD_MANAGER } from "../children/ownership.ts";
import type { StoreRestart } from "./restart-store.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { renderDesired, type DesiredChildren } from "./render-desired.ts";

/** The result of one reconcile pass. */
export interface PassResult {
  readonly desired: DesiredChildren;
  readonly problems: readonly Problem[];
  readonly live: readonly LiveChild[];
  readonly deleting: boolean;
  /** Objects that the pods need and that do not exist. */
  readonly missingReferences?: readonly MissingReference[];
  /** Restarts of the state store; absent when they were not decided about. */
  readonly store?: StoreRestart;
}

/** Computes the status and writes it if it changed. */
export async function writeStatus<T extends KubeObject>(
  object: Stored<T>,
  pass: PassResult,
  { signal, logger }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<LifecycleStep> {
  const previous = deps.classKind.statusOf(object);
  const observation = buildObservation(object, pass, [], deps);
  const first = evaluate(previous, observation, deps.clock.now());
  const step =
    first.status.phase === "available" || pass.deleting || !mayHaveWarnings(observation)
      ? first
      : evaluate(previous, { ...observation, events: await listWarnings(observation, signal, deps) }, deps.clock.now());
  if (!step.changed) return step;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, resourceVersion } = metadata;
  const manifest = {
    apiVersion,
    kind,
    // With the version: another class may have this name now, and the server accepts no uid precondition here.
    metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
    status: deps.classKind.encodeStatus(ownStatus(step.status)),
  };
  const written = await deps.client
    .resource(deps.classKind.type)
    .apply(manifest as unknown as T, { fieldManager: FIELD_MANAGER, force: true, subresource: "status", signal });
  deps.ownWrites.record(written);
  deps.drift.written(metadata.uid, step.status.drift_corrections);
  const annotations = classEventAnnotations(object);
  for (const event of step.events) deps.events.record({ ...event, annotations });
  logTransition(previous, step.status, logger);
  return step;
}

/** Logs a new phase or reason once, as a warning if the class is degraded. */
function logTransition(before: ClassRuntimeStatus | undefined, after: ClassRuntimeStatus, logger: Logger): void {
  const { phase, reason, message } = after;
  const same = before?.phase === phase && before?.reason === reason;
  if (same && (phase !== "degraded" || before?.message === message)) return;
  logger[phase === "degraded" ? "warn" : "info"]("class changed phase", { phase, reason, message });
}

function buildObservation<T extends KubeObject>(
  object: Stored<T>,
  pass: PassResult,
  events: Observation["events"],
  deps: ReconcileDeps<T>,
): Observation {
  const { metadata } = object;
  const namespace = metadata.namespace ?? "";
  const label = ownerLabelValue(metadata.name);
  const pods = deps.pods.podsOf(namespace, label);
  return {
    subject: refOf(object),
    generation: metadata.generation ?? 0,
    deleting: pass.deleting,
    expected: pass.desired.expected,
    problems: pass.problems,
    children: pass.live.map((child) => child.object),
    pods,
    arePodsKnown: deps.pods.arePodsKnown,
    replicaSets: deps.pods.replicaSetsOf(namespace, label),
    nodes: deps.pods.nodesOf(pods),
    events,
    odgmChecks: deps.odgmChecks,
    odgmReading: deps.odgmReading(metadata.uid),
    ...restartFields(object, pass, deps),
    driftCorrections: driftOf(object, deps),
    ...(pass.missingReferences === undefined ? {} : { missingReferences: pass.missingReferences }),
  };
}

/** Without a decision of this pass, the last one stays. */
function restartFields<T extends KubeObject>(
  object: Stored<T>,
  { store }: PassResult,
  { classKind }: ReconcileDeps<T>,
): Pick<Observation, "odgmRestart" | "odgmConfiguration"> {
  const stored = classKind.statusOf(object)?.odgm_cluster_status;
  const { restart, configuration } = store?.configuration === undefined ? (stored ?? {}) : store;
  return { odgmRestart: restart, odgmConfiguration: configuration };
}

function driftOf<T extends KubeObject>(object: Stored<T>, deps: ReconcileDeps<T>): Observation["driftCorrections"] {
  const stored = deps.classKind.statusOf(object)?.drift_corrections;
  const merged = deps.drift.merged(object.metadata.uid, stored, deps.clock.now());
  return merged === undefined ? undefined : [...merged];
}

/** Finds the objects that the pods of the class need and that do not exist. */
export function findMissingReferences<T extends KubeObject>(
  { metadata }: Stored<T>,
  { expected }: DesiredChildren,
  signal: AbortSignal,
  { references }: ReconcileDeps<T>,
): Promise<readonly MissingReference[]> {
  return references.findMissing(metadata.namespace ?? "", expected?.children ?? [], signal);
}

/** Observes a class without writing anything. */
export async function observeClass<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation> {
  const desired = renderDesired(object, deps, "check");
  const live = deps.children.childrenOf(object.metadata.uid);
  const deleting = isBeingDeleted(object);
  const missingReferences = deleting ? [] : await findMissingReferences(object, desired, signal, deps);
  const pass = { desired, problems: desired.problems, live, deleting, missingReferences };
  const observation = buildObservation(object, pass, [], deps);
  return { ...observation, events: await listWarnings(observation, signal, deps) };
}

/**
 * Whether Warning events may explain more than the objects: a pod is not ready, or a controller cannot create pods.
 * Deployments and ReplicaSets report the latter in a condition; the other kinds only in events.
 */
function mayHaveWarnings({ children, pods, replicaSets }: Observation): boolean {
  return (
    pods.some((pod) => !isPodReady(pod) && !isBeingDeleted(pod)) ||
    [...children, ...replicaSets].some((object) =>
      object.kind === "Deployment" || object.kind === "ReplicaSet"
        ? conditionIn((object as Workload).status?.conditions, "ReplicaFailure")?.status === "True"
        : isWorkload(object),
    )
  );
}

/** Lists the Warning events of the objects. A failed list hides no other observation. */
function listWarnings<T extends KubeObject>(
  { subject, children, pods, replicaSets }: Observation,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation["events"]> {
  return deps.pods
    .listWarnings(subject.namespace ?? "", [...children, ...pods, ...replicaSets], signal)
    .catch(() => []);
}
