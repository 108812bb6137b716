import { refOf } from "@oaas/kube-core";
import { findPullFailure } from "./diagnose-pull.ts";
import { finding, type Finding } from "./finding.ts";
import { eventsAbout, type ObservedEvent } from "../observation/observed-event.ts";
import { conditionIn, type ContainerStatus, type Node, type Pod } from "../observation/observed-objects.ts";

/** Cluster objects needed to diagnose a pod. */
export interface PodContext {
  readonly nodes: readonly Node[];
  readonly events: readonly ObservedEvent[];
}

export function isPodReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined && conditionIn(pod.status?.conditions, "Ready")?.status === "True"
  );
}

/**
 * Why a pod is not ready, from the pod, its node and its events; undefined when it is ready, completed or being
 * deleted. The order of the checks matters: an earlier cause hides later ones.
 */
export function diagnosePod(pod: Pod, context: PodContext): Finding | undefined {
  if (pod.status?.phase === "Succeeded") return undefined;
  const lost = findLostNode(pod, context.nodes);
  if (lost !== undefined) return lost;
  if (pod.metadata.deletionTimestamp !== undefined || isPodReady(pod)) return undefined;
  const events = eventsAbout(context.events, refOf(pod));
  return (
    findEviction(pod) ??
    findSchedulingFailure(pod, events) ??
    findContainerFailure(pod, events) ??
    findStartFailure(pod, events) ??
    describeStart(pod, events)
  );
}

function findLostNode(pod: Pod, nodes: readonly Node[]): Finding | undefined {
  const { nodeName } = pod.spec ?? {};
  if (pod.status?.reason === "NodeLost") return finding("NodeLost", refOf(pod), "was on a lost node");
  if (nodeName === undefined || nodes.length === 0) return undefined;
  const node = nodes.find(({ metadata }) => metadata.name === nodeName);
  if (node === undefined)
    return finding("NodeLost", refOf(pod), `was on node ${nodeName}, which no longer exists`, { node: nodeName });
  const ready = conditionIn(node.status?.conditions, "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const detail = ready.message ?? ready.reason;
  return finding(
    "NodeLost",
    refOf(pod),
    `is on node ${nodeName}, which is not ready${detail === undefined ? "" : ` (${detail})`}`,
    {
      since: ready.lastTransitionTime,
      node: nodeName,
    },
  );
}

function findEviction(pod: Pod): Finding | undefined {
  if (pod.status?.phase !== "Failed" || pod.status.reason !== "Evicted") return undefined;
  return finding("Evicted", refOf(pod), `was evicted: ${pod.status.message ?? "its node ran out of resources"}`);
}

/** Taints that Kubernetes removes when the node recovers. */
const TRANSIENT_TAINT = /node\.kubernetes\.io\/(not-ready|unreachable|network-unavailable|uninitialized)/;

function findSchedulingFailure(pod: Pod, events: readonly ObservedEvent[]): Finding | undefined {
  const scheduled = conditionIn(pod.status?.conditions, "PodScheduled");
  if (scheduled?.status !== "False") return undefined;
  const { message = "no suitable node", lastTransitionTime: since } = scheduled;
  if (scheduled.reason === "SchedulingGated") {
    return finding("SchedulingGated", refOf(pod), "waits for its scheduling gate to be removed", { since });
  }
  const related = events.filter(({ reason }) => reason === "FailedScheduling" || reason === "NotTriggerScaleUp");
  const scaleUp = events.find(({ reason }) => reason === "TriggeredScaleUp");
  if (scaleUp !== undefined) {
    return finding("ScaleUpTriggered", refOf(pod), `waits for a new node: ${message}`, {
      since,
      events: [scaleUp, ...related],
    });
  }
  return finding("Unschedulable", refOf(pod), `cannot be scheduled: ${message}`, {
    plain: `no node can run it: ${message}`,
    since,
    events: related,
    verdict: TRANSIENT_TAINT.test(message) ? "transient" : "permanent",
  });
}

function findContainerFailure(pod: Pod, events: readonly ObservedEvent[]): Finding | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  for (const container of [...initContainerStatuses, ...containerStatuses]) {
    const found =
      findPullFailure(pod, container, events) ??
      findConfigFailure(pod, container, events) ??
      findCrash(pod, container, events);
    if (found !== undefined) return found;
  }
  return undefined;
}

const CONFIG_REASONS = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "PreCreateHookError",
  "PreStartHookError",
  "PostStartHookError",
]);

function findConfigFailure(
  pod: Pod,
  container: ContainerStatus,
  events: readonly ObservedEvent[],
): Finding | undefined {
  const waiting = container.state?.waiting;
  if (waiting?.reason === undefined || !CONFIG_REASONS.has(waiting.reason)) return undefined;
  return finding(
    "ContainerConfig",
    refOf(pod),
    `cannot start container ${container.name}: ${waiting.message ?? waiting.reason}`,
    {
      plain: `its container cannot start: ${waiting.message ?? waiting.reason}`,
      events: events.filter(({ reason, warning }) => warning && reason === "Failed"),
    },
  );
}

/** Restarts after which a crash counts as permanent. */
const CRASH_LOOP_RESTARTS = 3;

/**
 * Detects a crash loop also while the container runs between crashes; otherwise the status would change at every
 * restart.
 */
function findCrash(pod: Pod, container: ContainerStatus, events: readonly ObservedEvent[]): Finding | undefined {
  const restarts = container.restartCount ?? 0;
  const isBackingOff = container.state?.waiting?.reason === "CrashLoopBackOff";
  const termination = container.state?.terminated ?? container.lastState?.terminated;
  const exited = termination !== undefined && termination.exitCode !== 0;
  const stopped = container.state?.terminated !== undefined && exited;
  const isBetweenCrashes = exited && container.ready !== true && restarts >= CRASH_LOOP_RESTARTS;
  if (!isBackingOff && !stopped && !isBetweenCrashes) return undefined;
  const details = {
    count: restarts,
    events: events.filter(({ reason }) => reason === "BackOff" || reason === "Unhealthy" || reason === "Killing"),
    verdict: restarts >= CRASH_LOOP_RESTARTS ? ("permanent" as const) : ("transient" as const),
  };
  if (termination?.reason === "OOMKilled") {
    const plain = "its container exceeds its memory limit";
    const message = `has container ${container.name} exceeding its memory limit`;
    return finding("OutOfMemory", refOf(pod), message, { ...details, plain });
  }
  const exit = exitText(termination);
  return finding("CrashLoop", refOf(pod), `has container ${container.name} crashing${exit}`, {
    ...details,
    plain: `its container crashes${exit}`,
  });
}

/** " with exit code 1: …", or nothing when the exit is unknown. */
function exitText(termination: NonNullable<ContainerStatus["state"]>["terminated"]): string {
  if (termination === undefined) return "";
  const { exitCode = 0, signal, reason = "", message = "" } = termination;
  const how = signal === undefined || signal === 0 ? `exit code ${exitCode}` : `signal ${signal}`;
  const cause = message.trim() || (reason === "Error" ? "" : reason);
  return ` with ${how}${cause === "" ? "" : `: ${lastLine(cause)}`}`;
}

function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

const START_FAILURES = {
  FailedMount: "VolumeMount",
  FailedAttachVolume: "VolumeMount",
  FailedCreatePodSandBox: "PodSandbox",
} as const;
const NOT_FOUND = /not found|doesn't exist|does not exist/i;

/** Failures before any container exists are reported only in events. */
function findStartFailure(pod: Pod, events: readonly ObservedEvent[]): Finding | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const hasStarted = [...initContainerStatuses, ...containerStatuses].some(
    ({ state }) => state?.running !== undefined || state?.terminated !== undefined,
  );
  if (hasStarted) return undefined;
  const related = events.filter(({ reason }) => Object.hasOwn(START_FAILURES, reason));
  const [latest] = related;
  if (latest === undefined) return undefined;
  const reason = START_FAILURES[latest.reason as keyof typeof START_FAILURES];
  return finding(reason, refOf(pod), `cannot start: ${lastLine(latest.message)}`, {
    verdict: NOT_FOUND.test(latest.message) ? "permanent" : "transient",
    count: latest.count,
    events: related,
  });
}

function describeStart(pod: Pod, events: readonly ObservedEvent[]): Finding {
  const since = conditionIn(pod.status?.conditions, "Ready")?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  const probes = events.filter(({ reason }) => reason === "Unhealthy");
  const running = pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ?? false;
  if (running && probes.length > 0) {
    return finding("ProbeFailing", refOf(pod), "is running, but its probe fails", { since, events: probes });
  }
  return finding("PodStarting", refOf(pod), running ? "is running, but not ready" : "is starting", { since });
}
