import { equalJson, type Stored } from "@oaas/kube-core";
import {
  createDecision,
  remove,
  SETTLED,
  minDelayMs,
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
  stepContainer,
  createWaitingStatus,
  type ContainerEvent,
  type ContainerBehaviour,
  type ContainerStep,
} from "./container-lifecycle.ts";
import { resizeContainers, type NodeRoom } from "./pod-resize.ts";
import { summarizeStatus, type PodAddresses } from "./pod-status.ts";

/** A pod on a node with a working kubelet, and the kubelet's other inputs. */
export interface KubeletSnapshot {
  readonly pod: Stored<Pod>;
  readonly addresses: PodAddresses;
  readonly startDelayMs: number;
  readonly stopDelayMs: number;
  /** How long the pod has been observed in its state: new, starting, or terminating. */
  readonly inStateMs: number;
  readonly containers: ReadonlyMap<string, ContainerContext>;
  /** Called only when the pod is to be resized. */
  readonly nodeRoom: () => NodeRoom;
  readonly now: number;
  /**
   * Whether to emit Events for pulled images, started and stopped containers, as a real kubelet does and KWOK does not.
   */
  readonly recordsContainerEvents: boolean;
}

export interface ContainerContext {
  readonly behaviour: ContainerBehaviour;
  readonly inStateMs: number;
  readonly pulls: number;
}

/** The next step of the kubelet for one pod. */
export function decidePod(snapshot: KubeletSnapshot): Decision {
  const { pod } = snapshot;
  if (pod.metadata.deletionTimestamp !== undefined) return stopPod(snapshot);
  const phase = pod.status?.phase;
  if (phase === "Succeeded" || phase === "Failed") return SETTLED;
  const isNew = (pod.status?.containerStatuses?.length ?? 0) === 0;
  if (isNew && snapshot.startDelayMs > 0) return admitPod(snapshot);
  const isStarting = isNew || pod.status?.containerStatuses?.every(isCreating);
  const waitMs = snapshot.startDelayMs - snapshot.inStateMs;
  return isStarting && !isNew && waitMs > 0 ? createDecision([], waitMs) : stepContainers(snapshot);
}

function isCreating({ state }: ContainerStatus): boolean {
  const reason = state.waiting?.reason;
  return reason === "ContainerCreating" || reason === "PodInitializing";
}

function admitPod(snapshot: KubeletSnapshot): Decision {
  const { pod, now, addresses } = snapshot;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const status = summarizeStatus(
    pod,
    {
      inits: initContainers.map((one) => createWaitingStatus(one, "PodInitializing")),
      containers: containers.map((one) =>
        createWaitingStatus(one, initContainers.length > 0 ? "PodInitializing" : "ContainerCreating"),
      ),
    },
    addresses,
    now,
  );
  return createDecision([updateStatus(PODS, { ...pod, status })], snapshot.startDelayMs);
}

/** Every container takes the step that is due, if any. */
function stepContainers(snapshot: KubeletSnapshot): Decision {
  const { pod, now, addresses } = snapshot;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const steps = containers.map((container) => ({ container, step: createStep(snapshot, container) }));
  const isAnyStarted = steps.some(({ step }) => step.status.state.running ?? step.status.state.terminated);
  const inits = initContainers.map((container) => computeInitStatus(pod, container, isAnyStarted, now));
  const resize = resizeContainers(snapshot, { inits, containers: steps.map(({ step }) => step.status) });
  const resized = { ...pod, status: { ...pod.status, conditions: resize.conditions } };
  const next = summarizeStatus(resized, resize.statuses, addresses, now);
  const waitMs = [...steps.map(({ step }) => step.waitMs), resize.waitMs].reduce(minDelayMs, undefined);
  if (equalJson(next, pod.status)) return createDecision([], waitMs);
  const events = [
    ...steps.flatMap(({ container, step }) =>
      step.events.map((event) => createContainerEvent(snapshot, container, event)),
    ),
    ...resize.events.map((event) => ({ about: pod, ...event, ...getHost(pod) })),
  ];
  return createDecision(
    [
      updateStatus(PODS, { ...pod, status: next }),
      ...keepWarnings(snapshot, events),
      ...createUnhealthyEvents(snapshot, next),
    ],
    waitMs,
  );
}

function createStep(snapshot: KubeletSnapshot, container: Container): ContainerStep {
  const { pod, now } = snapshot;
  const { metadata } = pod;
  const context = snapshot.containers.get(container.name);
  const before = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
  return stepContainer({
    container,
    status: before ?? createWaitingStatus(container, "ContainerCreating"),
    behaviour: context?.behaviour ?? { kind: "runs", isReady: true },
    inStateMs: context?.inStateMs ?? 0,
    pulls: context?.pulls ?? 0,
    now,
    podText: `${metadata.name}_${metadata.namespace ?? ""}(${metadata.uid})`,
    restartPolicy: pod.spec?.restartPolicy ?? "Always",
  });
}

/** Init containers are done as soon as the others start; sidecars run. */
function computeInitStatus(pod: Pod, container: Container, isStarted: boolean, now: number): ContainerStatus {
  const before = pod.status?.initContainerStatuses?.find(({ name }) => name === container.name);
  const status = before ?? createWaitingStatus(container, "PodInitializing");
  if (!isStarted || status.state.waiting === undefined) return status;
  const snapshot = { container, inStateMs: 0, pulls: 0, now, podText: "", restartPolicy: "Never" };
  const running = stepContainer({ ...snapshot, status, behaviour: { kind: "runs", isReady: true } }).status;
  if (container.restartPolicy === "Always") return running;
  const behaviour = { kind: "runs", isReady: true, completesAfterMs: 0 } as const;
  return { ...stepContainer({ ...snapshot, status: running, behaviour }).status, ready: true };
}

function createUnhealthyEvents({ pod }: KubeletSnapshot, next: Pod["status"]): Step[] {
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
        ...getHost(pod),
      }),
    );
}

/** Pods stop at once when deleted, and always within their grace period. */
function stopPod(snapshot: KubeletSnapshot): Decision {
  const { pod } = snapshot;
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  if (grace === 0 && (pod.metadata.finalizers?.length ?? 0) > 0) return SETTLED;
  const waitMs = Math.min(snapshot.stopDelayMs, grace * 1000) - snapshot.inStateMs;
  const running = pod.status?.containerStatuses?.filter(({ state }) => state.running) ?? [];
  const killing = running.map(({ name }) =>
    createContainerEvent(
      snapshot,
      { name },
      { type: "Normal", reason: "Killing", message: `Stopping container ${name}` },
    ),
  );
  if (waitMs > 0) return createDecision(snapshot.inStateMs === 0 ? keepWarnings(snapshot, killing) : [], waitMs);
  return createDecision([
    ...keepWarnings(snapshot, snapshot.stopDelayMs > 0 ? [] : killing),
    remove(PODS, pod, { gracePeriodSeconds: 0 }),
  ]);
}

function createContainerEvent({ pod }: KubeletSnapshot, { name }: Container, event: ContainerEvent): EventDraft {
  return { about: pod, ...event, fieldPath: `spec.containers{${name}}`, ...getHost(pod) };
}

function getHost(pod: Pod): { readonly host?: string } {
  return pod.spec?.nodeName === undefined ? {} : { host: pod.spec.nodeName };
}

/** Failures are always reported; successes only on request: they would be three Events per pod. */
function keepWarnings({ recordsContainerEvents }: KubeletSnapshot, events: readonly EventDraft[]): readonly Step[] {
  const hasWarning = events.some(({ type }) => type === "Warning");
  return recordsContainerEvents || hasWarning ? events.map(recordEvent) : [];
}

/** Pods of Jobs finish by themselves; all others run until they are stopped. */
export function completes(pod: Pod): boolean {
  return isControlledByKind(pod, "Job");
}
