import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { isBeingDeleted, refOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { ReconcileContext } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import { isPodReady } from "../../lifecycle/diagnosis/diagnose-pod.ts";
import { evaluate, type Step } from "../../lifecycle/evaluate.ts";
import type { Observation, Problem } from "../../lifecycle/observation/observation.ts";
import { conditionIn, type Workload } from "../../lifecycle/observation/observed-objects.ts";
import { ownStatus } from "../../lifecycle/status/field-ownership.ts";
import { isWorkload } from "../../lifecycle/diagnosis/readiness.ts";
import { ownerLabelValue } from "../../templates/index.ts";
import { eventAnnotationsOf } from "./log-fields.ts";
import type { PresentChild } from "../children/child-cache.ts";
import { FIELD_MANAGER } from "../children/ownership.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { want, type Wanted } from "./render-desired.ts";

/** What one pass wanted, met and left. */
export interface Pass {
  readonly wanted: Wanted;
  readonly problems: readonly Problem[];
  readonly present: readonly PresentChild[];
  readonly deleting: boolean;
}

/** Decides the status, and writes it when it says something new. */
export async function settle<T extends KubeObject>(
  object: Stored<T>,
  pass: Pass,
  { signal, logger }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Step> {
  const previous = deps.subject.statusOf(object);
  const seen = observe(object, pass, [], deps);
  const first = evaluate(previous, seen, deps.clock.now());
  const step =
    first.status.phase === "available" || pass.deleting || !mayHaveWarnings(seen)
      ? first
      : evaluate(previous, { ...seen, events: await warningsAbout(seen, signal, deps) }, deps.clock.now());
  if (!step.changed) return step;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, resourceVersion } = metadata;
  const manifest = {
    apiVersion,
    kind,
    // Of this version only: another class may have the name by now, and the server takes no uid as a condition here.
    metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
    status: deps.subject.statusFor(ownStatus(step.status)),
  };
  const written = await deps.client
    .resource(deps.subject.type)
    .apply(manifest as unknown as T, { fieldManager: FIELD_MANAGER, force: true, subresource: "status", signal });
  deps.own.note(written);
  const annotations = eventAnnotationsOf(object);
  for (const happening of step.events) deps.events.record({ ...happening, annotations });
  report(previous, step.status, logger);
  return step;
}

/** One line for each new state, and a warning for one that somebody has to look into. */
function report(before: ClassRuntimeStatus | undefined, after: ClassRuntimeStatus, logger: Logger): void {
  const { phase, reason, message } = after;
  const same = before?.phase === phase && before?.reason === reason;
  if (same && (phase !== "degraded" || before?.message === message)) return;
  logger[phase === "degraded" ? "warn" : "info"]("the class has changed", { phase, reason, message });
}

function observe<T extends KubeObject>(
  object: Stored<T>,
  pass: Pass,
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
    expected: pass.wanted.expected,
    problems: pass.problems,
    children: pass.present.map((child) => child.object),
    pods,
    replicaSets: deps.pods.replicaSetsOf(namespace, label),
    nodes: deps.pods.nodesOf(pods),
    events,
    odgmReading: deps.odgmReading(metadata.uid),
  };
}

/** What is known about a class at this moment, without touching it. */
export async function observeClass<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation> {
  const wanted = want(object, deps, "check");
  const present = deps.children.childrenOf(object.metadata.uid);
  const pass = { wanted, problems: wanted.problems, present, deleting: isBeingDeleted(object) };
  const seen = observe(object, pass, [], deps);
  return { ...seen, events: await warningsAbout(seen, signal, deps) };
}

/**
 * Whether there is something that events say more about than the objects themselves: a pod that is not ready, or a controller that cannot make
 * pods. Deployments say the latter in a condition; the other kinds only in events.
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

/** Events are read only for a class that is not well, and a failure to read them hides nothing else. */
function warningsAbout<T extends KubeObject>(
  { subject, children, pods, replicaSets }: Observation,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Observation["events"]> {
  return deps.pods
    .warningsAbout(subject.namespace ?? "", [...children, ...pods, ...replicaSets], signal)
    .catch(() => []);
}
