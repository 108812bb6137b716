import { equalJson, type Stored } from "@oaas/kube-core";
import {
  decision,
  remove,
  SETTLED,
  earliestMs,
  recordEvent,
  updateStatus,
  type Decision,
  type EventDraft,
  type Step,
} from "../loop/decision.ts";
import { isControlledByKind } from "../objects/pods.ts";
import { PODS } from "../objects/resources.ts";
import type { Container, ContainerStatus, Pod } from "../objects/typed.ts";
import {
  containerStep,
  waitingStatus,
  type ContainerEvent,
  type ContainerBehaviour,
  type ContainerStep,
} from "./container-lifecycle.ts";
import { summarizeStatus, type PodAddresses } from "./pod-status.ts";

/** A pod on a node with a working kubelet, and what the kubelet knows besides. */
export interface KubeletMoment {
  readonly pod: Stored<Pod>;
  readonly addresses: PodAddresses;
  readonly startDelayMs: number;
  readonly stopDelayMs: number;
  /** How long the pod has been observed in its state: new, starting, or terminating. */
  readonly inStateMs: number;
  readonly containers: ReadonlyMap<string, ContainerKnowledge>;
  readonly now: number;
  /**
   * Whether to emit Events for pulled images, started and stopped containers, as a real kubelet does and KWOK does not.
   */
  readonly recordsContainerEvents: boolean;
}

export interface ContainerKnowledge {
  readonly behaviour: ContainerBehaviour;
  readonly inStateMs: number;
  readonly pulls: number;
}

/** The next step of the kubelet for one pod. */
export function decidePod(moment: KubeletMoment): Decision {
  const { pod } = moment;
  if (pod.metadata.deletionTimestamp !== undefined) return stopped(moment);
  const phase = pod.status?.phase;
  if (phase === "Succeeded" || phase === "Failed") return SETTLED;
  const isNew = (pod.status?.containerStatuses?.length ?? 0) === 0;
  if (isNew && moment.startDelayMs > 0) return admitPod(moment);
  const isStarting = isNew || pod.status?.containerStatuses?.every(isCreating);
  const waitMs = moment.startDelayMs - moment.inStateMs;
  return isStarting && !isNew && waitMs > 0 ? decision([], waitMs) : stepped(moment);
}

function isCreating({ state }: ContainerStatus): boolean {
  const reason = state.waiting?.reason;
  return reason === "ContainerCreating" || reason === "PodInitializing";
}

function admitPod(moment: KubeletMoment): Decision {
  const { pod, now, addresses } = moment;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const status = summarizeStatus(
    pod,
    {
      inits: initContainers.map((one) => waitingStatus(one, "PodInitializing")),
      containers: containers.map((one) =>
        waitingStatus(one, initContainers.length > 0 ? "PodInitializing" : "ContainerCreating"),
      ),
    },
    addresses,
    now,
  );
  return decision([updateStatus(PODS, { ...pod, status })], moment.startDelayMs);
}

/** Every container takes the step that is due, if any. */
function stepped(moment: KubeletMoment): Decision {
  const { pod, now, addresses } = moment;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const steps = containers.map((container) => ({ container, step: stepOf(moment, container) }));
  const isAnyStarted = steps.some(({ step }) => step.status.state.running ?? step.status.state.terminated);
  const inits = initContainers.map((container) => initStatus(pod, container, isAnyStarted, now));
  const next = summarizeStatus(pod, { inits, containers: steps.map(({ step }) => step.status) }, addresses, now);
  const waitMs = steps.map(({ step }) => step.waitMs).reduce(earliestMs, undefined);
  if (equalJson(next, pod.status)) return decision([], waitMs);
  const events = steps.flatMap(({ container, step }) =>
    step.events.map((event) => containerEvent(moment, container, event)),
  );
  return decision(
    [updateStatus(PODS, { ...pod, status: next }), ...keepWarnings(moment, events), ...unhealthy(moment, next)],
    waitMs,
  );
}

function stepOf(moment: KubeletMoment, container: Container): ContainerStep {
  const { pod, now } = moment;
  const { metadata } = pod;
  const known = moment.containers.get(container.name);
  const before = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
  return containerStep({
    container,
    status: before ?? waitingStatus(container, "ContainerCreating"),
    behaviour: known?.behaviour ?? { kind: "runs", isReady: true },
    inStateMs: known?.inStateMs ?? 0,
    pulls: known?.pulls ?? 0,
    now,
    podText: `${metadata.name}_${metadata.namespace ?? ""}(${metadata.uid})`,
    restartPolicy: pod.spec?.restartPolicy ?? "Always",
  });
}

/** Init containers are done as soon as the others start; sidecars run. */
function initStatus(pod: Pod, container: Container, isStarted: boolean, now: number): ContainerStatus {
  const before = pod.status?.initContainerStatuses?.find(({ name }) => name === container.name);
  const status = before ?? waitingStatus(container, "PodInitializing");
  if (!isStarted || status.state.waiting === undefined) return status;
  const moment = { container, inStateMs: 0, pulls: 0, now, podText: "", restartPolicy: "Never" };
  const running = containerStep({ ...moment, status, behaviour: { kind: "runs", isReady: true } }).status;
  if (container.restartPolicy === "Always") return running;
  const behaviour = { kind: "runs", isReady: true, completesAfterMs: 0 } as const;
  return { ...containerStep({ ...moment, status: running, behaviour }).status, ready: true };
}

function unhealthy({ pod }: KubeletMoment, next: Pod["status"]): Step[] {
  const isNewlyUnready = (status: Pod["status"], name: string): boolean =>
    status?.containerStatuses?.some((one) => one.name === name && one.state.running !== undefined && !one.ready) ??
    false;
  return (pod.spec?.containers ?? [])
    .filter(
      ({ name, readinessProbe }) => readinessProbe && isNewlyUnready(next, name) && !isNewlyUnready(pod.status, name),
    )
    .map((container) =>
      recordEvent({
        about: pod,
        type: "Warning",
        reason: "Unhealthy",
        message: "Readiness probe failed: HTTP probe failed with statuscode: 503",
        fieldPath: `spec.containers{${container.name}}`,
        ...hostOf(pod),
      }),
    );
}

/** Pods stop at once when deleted, and always within their grace period. */
function stopped(moment: KubeletMoment): Decision {
  const { pod } = moment;
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  if (grace === 0 && (pod.metadata.finalizers?.length ?? 0) > 0) return SETTLED;
  const waitMs = Math.min(moment.stopDelayMs, grace * 1000) - moment.inStateMs;
  const running = pod.status?.containerStatuses?.filter(({ state }) => state.running) ?? [];
  const killing = running.map(({ name }) =>
    containerEvent(moment, { name }, { type: "Normal", reason: "Killing", message: `Stopping container ${name}` }),
  );
  if (waitMs > 0) return decision(moment.inStateMs === 0 ? keepWarnings(moment, killing) : [], waitMs);
  return decision([
    ...keepWarnings(moment, moment.stopDelayMs > 0 ? [] : killing),
    remove(PODS, pod, { gracePeriodSeconds: 0 }),
  ]);
}

function containerEvent({ pod }: KubeletMoment, { name }: Container, event: ContainerEvent): EventDraft {
  return { about: pod, ...event, fieldPath: `spec.containers{${name}}`, ...hostOf(pod) };
}

function hostOf(pod: Pod): { readonly host?: string } {
  return pod.spec?.nodeName === undefined ? {} : { host: pod.spec.nodeName };
}

/** Failures are always reported; successes only on request: they would be three Events per pod. */
function keepWarnings(
  { recordsContainerEvents: tellsOfContainers }: KubeletMoment,
  events: readonly EventDraft[],
): readonly Step[] {
  const isTrouble = events.some(({ type }) => type === "Warning");
  return tellsOfContainers || isTrouble ? events.map(recordEvent) : [];
}

/** Pods of Jobs finish by themselves; all others run until they are stopped. */
export function completes(pod: Pod): boolean {
  return isControlledByKind(pod, "Job");
}
