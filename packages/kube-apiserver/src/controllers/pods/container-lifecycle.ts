import { wholeSeconds } from "../objects/time.ts";
import type { Container, ContainerState, ContainerStatus } from "../objects/typed.ts";

/** The desired behaviour of a container. */
export type ContainerBehaviour =
  | { readonly kind: "runs"; readonly isReady: boolean; readonly completesAfterMs?: number }
  | { readonly kind: "crashes"; readonly afterMs: number; readonly exitCode: number; readonly restarts: number }
  | { readonly kind: "image-pull"; readonly error: string };

export interface ContainerEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** One container, the time in its state, and the number of pull attempts. */
export interface ContainerSnapshot {
  readonly container: Container;
  readonly status: ContainerStatus;
  readonly behaviour: ContainerBehaviour;
  readonly inStateMs: number;
  readonly pulls: number;
  readonly now: number;
  /** `web-x_default(uid)`, as a kubelet names pods in messages. */
  readonly podText: string;
  readonly restartPolicy: string;
}

export interface ContainerStep {
  readonly status: ContainerStatus;
  readonly events: readonly ContainerEvent[];
  /** Delay until the next step. */
  readonly waitMs?: number;
}

/** From the first error to the back-off state. */
const PULL_ERROR_DURATION_MS = 10_000;
const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 300_000;

/** The next state of a container, or the same status when it is not due. */
export function stepContainer(snapshot: ContainerSnapshot): ContainerStep {
  const { state } = snapshot.status;
  if (state.terminated) return { status: snapshot.status, events: [] };
  switch (snapshot.behaviour.kind) {
    case "runs":
      return stepRunning(snapshot, snapshot.behaviour);
    case "image-pull":
      return stepImagePull(snapshot, snapshot.behaviour.error);
    case "crashes":
      return stepCrashing(snapshot, snapshot.behaviour);
  }
}

export function createWaitingStatus({ name, image = "" }: Container, reason: string): ContainerStatus {
  return {
    name,
    image,
    imageID: "",
    lastState: {},
    ready: false,
    restartCount: 0,
    started: false,
    state: { waiting: { reason } },
  };
}

function stepRunning(
  { container, status, inStateMs, now }: ContainerSnapshot,
  behaviour: ContainerBehaviour & { kind: "runs" },
): ContainerStep {
  if (!status.state.running) {
    const events = status.restartCount === 0 ? createStartEvents(container) : [];
    const next = startContainer(status, container, now, behaviour.isReady);
    return {
      status: next,
      events,
      ...(behaviour.completesAfterMs === undefined ? {} : { waitMs: behaviour.completesAfterMs }),
    };
  }
  const { completesAfterMs } = behaviour;
  if (completesAfterMs !== undefined) {
    if (inStateMs < completesAfterMs) return { status, events: [], waitMs: completesAfterMs - inStateMs };
    return { status: endContainer(status, 0, now), events: [] };
  }
  return { status: status.ready === behaviour.isReady ? status : { ...status, ready: behaviour.isReady }, events: [] };
}

/** Pulled at once, then after 10 s, 20 s … 5 min: the error, then the back-off. */
function stepImagePull({ container, status, inStateMs, pulls }: ContainerSnapshot, error: string): ContainerStep {
  const image = container.image ?? "";
  const { reason } = status.state.waiting ?? {};
  const failed: ContainerStep = {
    status: { ...status, ready: false, started: false, state: { waiting: { reason: "ErrImagePull", message: error } } },
    events: [
      createNormalEvent("Pulling", `Pulling image "${image}"`),
      createWarningEvent("Failed", `Failed to pull image "${image}": ${error}`),
      createWarningEvent("Failed", "Error: ErrImagePull"),
    ],
    waitMs: PULL_ERROR_DURATION_MS,
  };
  if (reason === "ErrImagePull") {
    if (inStateMs < PULL_ERROR_DURATION_MS) return { status, events: [], waitMs: PULL_ERROR_DURATION_MS - inStateMs };
    const message = `Back-off pulling image "${image}": ErrImagePull: ${error}`;
    return {
      status: { ...status, state: { waiting: { reason: "ImagePullBackOff", message } } },
      events: [
        createNormalEvent("BackOff", `Back-off pulling image "${image}"`),
        createWarningEvent("Failed", "Error: ImagePullBackOff"),
      ],
      waitMs: backoffMs(pulls),
    };
  }
  if (reason !== "ImagePullBackOff") return failed;
  const waitMs = backoffMs(pulls) - inStateMs;
  return waitMs > 0 ? { status, events: [], waitMs } : failed;
}

function stepCrashing(snapshot: ContainerSnapshot, behaviour: ContainerBehaviour & { kind: "crashes" }): ContainerStep {
  const { container, status, inStateMs, now, restartPolicy } = snapshot;
  if (status.state.running) {
    if (inStateMs < behaviour.afterMs) return { status, events: [], waitMs: behaviour.afterMs - inStateMs };
    if (restartPolicy === "Never") return { status: endContainer(status, behaviour.exitCode, now), events: [] };
    return afterCrash(snapshot, behaviour, endContainer(status, behaviour.exitCode, now).state);
  }
  if (status.state.waiting?.reason === "CrashLoopBackOff") {
    const waitMs = backoffMs(status.restartCount) - inStateMs;
    if (waitMs > 0) return { status, events: [], waitMs };
    return restartContainer(snapshot, behaviour, status.lastState);
  }
  const fresh = startContainer(status, container, now, false);
  if (behaviour.restarts === 0)
    return { status: fresh, events: createStartEvents(container), waitMs: behaviour.afterMs };
  const last = endContainer(fresh, behaviour.exitCode, now).state;
  return backOff(snapshot, { ...fresh, restartCount: behaviour.restarts }, last);
}

/** After the first crash the container restarts at once. */
function afterCrash(
  snapshot: ContainerSnapshot,
  behaviour: ContainerBehaviour & { kind: "crashes" },
  last: ContainerState,
): ContainerStep {
  if (snapshot.status.restartCount === 0) return restartContainer(snapshot, behaviour, last);
  return backOff(snapshot, snapshot.status, last);
}

function restartContainer(
  { container, status, now }: ContainerSnapshot,
  behaviour: ContainerBehaviour & { kind: "crashes" },
  last: ContainerState,
): ContainerStep {
  const restarted = startContainer(
    { ...status, restartCount: status.restartCount + 1, lastState: last },
    container,
    now,
    false,
  );
  return { status: restarted, events: createStartEvents(container), waitMs: behaviour.afterMs };
}

function backOff(
  { container, podText }: ContainerSnapshot,
  status: ContainerStatus,
  last: ContainerState,
): ContainerStep {
  const waitMs = backoffMs(status.restartCount);
  const message = `back-off ${formatGoDuration(waitMs)} restarting failed container=${container.name} pod=${podText}`;
  return {
    status: {
      ...status,
      ready: false,
      started: false,
      lastState: last,
      state: { waiting: { reason: "CrashLoopBackOff", message } },
    },
    events: [createWarningEvent("BackOff", `Back-off restarting failed container ${container.name} in pod ${podText}`)],
    waitMs,
  };
}

/** 10 s, doubled each time, at most 5 min. */
function backoffMs(times: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, Math.min(times - 1, 20)));
}

function formatGoDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function startContainer(
  status: ContainerStatus,
  { name, image = "" }: Container,
  now: number,
  ready: boolean,
): ContainerStatus {
  return {
    ...status,
    imageID: `${image}@simulated`,
    containerID: `simulated://${name}`,
    ready,
    started: true,
    state: { running: { startedAt: wholeSeconds(now) } },
  };
}

/** A running container that its kubelet stops and starts again to change its resources. */
export function restartInPlace(status: ContainerStatus, container: Container, now: number): ContainerStatus {
  const { state } = endContainer(status, 0, now);
  return startContainer(
    { ...status, restartCount: status.restartCount + 1, lastState: state },
    container,
    now,
    status.ready,
  );
}

function endContainer(status: ContainerStatus, exitCode: number, now: number): ContainerStatus {
  return {
    ...status,
    ready: false,
    started: false,
    state: {
      terminated: {
        exitCode,
        reason: exitCode === 0 ? "Completed" : "Error",
        startedAt: status.state.running?.startedAt ?? wholeSeconds(now),
        finishedAt: wholeSeconds(now),
        ...(status.containerID === undefined ? {} : { containerID: status.containerID }),
      },
    },
  };
}

function createStartEvents({ image = "" }: Container): readonly ContainerEvent[] {
  return [
    createNormalEvent("Pulled", `Container image "${image}" already present on machine and can be accessed by the pod`),
    createNormalEvent("Created", "Container created"),
    createNormalEvent("Started", "Container started"),
  ];
}

function createNormalEvent(reason: string, message: string): ContainerEvent {
  return { type: "Normal", reason, message };
}

function createWarningEvent(reason: string, message: string): ContainerEvent {
  return { type: "Warning", reason, message };
}
