import { describe, expect, test } from "vitest";
import { diagnosePod } from "./diagnose-pod.ts";
import { toObservedEvent, type ObservedEvent } from "../observation/observed-event.ts";
import type { ContainerStatus, Node, Pod } from "../observation/observed-objects.ts";

const scheduled = { type: "PodScheduled", status: "True" };
const notReady = { type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };

function podOf(status: Pod["status"], more: Partial<Pod> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u-p" },
    status: { conditions: [scheduled, notReady], ...status },
    ...more,
  };
}

const container = (one: Partial<ContainerStatus>): Pod["status"] => ({
  containerStatuses: [{ name: "function", image: "a:1", ...one }],
});

const waiting = (reason: string, message = ""): Pod["status"] => container({ state: { waiting: { reason, message } } });

function event(reason: string, message: string, more: object = {}): ObservedEvent {
  return toObservedEvent({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: reason },
    type: "Warning",
    reason,
    message,
    involvedObject: { kind: "Pod", name: "p", uid: "u-p" },
    ...more,
  });
}

const node = (name: string, status: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  status: { conditions: [{ type: "Ready", status }] },
});

describe("why a pod is not ready", () => {
  test.each([
    {
      case: "a missing image",
      pod: podOf(waiting("ErrImagePull", "manifest unknown")),
      want: ["ImagePull", "permanent"],
    },
    {
      case: "an image without access",
      pod: podOf(waiting("ErrImagePull", "pull access denied, repository does not exist")),
      want: ["ImagePull", "permanent"],
    },
    {
      case: "an unreachable registry",
      pod: podOf(waiting("ErrImagePull", "dial tcp: i/o timeout")),
      want: ["ImagePull", "transient"],
    },
    {
      case: "too many pulls",
      pod: podOf(waiting("ErrImagePull", "429 Too Many Requests")),
      want: ["ImagePull", "transient"],
    },
    { case: "an invalid name", pod: podOf(waiting("InvalidImageName")), want: ["ImagePull", "permanent"] },
    {
      case: "backing off, with the reason in the event",
      pod: podOf(waiting("ImagePullBackOff", "Back-off pulling image")),
      events: [event("Failed", "Error: ErrImagePull"), event("Failed", "Failed to pull image: connection refused")],
      want: ["ImagePull", "transient"],
    },
    {
      case: "a missing Secret",
      pod: podOf(waiting("CreateContainerConfigError", 'secret "x" not found')),
      want: ["ContainerConfig", "permanent"],
    },
    {
      case: "crashed once: transient",
      pod: podOf(
        container({
          restartCount: 1,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 1 } },
        }),
      ),
      want: ["CrashLoop", "transient"],
    },
    {
      case: "crash loop",
      pod: podOf(
        container({
          restartCount: 8,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 1 } },
        }),
      ),
      want: ["CrashLoop", "permanent"],
    },
    {
      case: "running, between two crashes",
      pod: podOf(
        container({
          restartCount: 8,
          ready: false,
          state: { running: {} },
          lastState: { terminated: { exitCode: 1 } },
        }),
      ),
      want: ["CrashLoop", "permanent"],
    },
    {
      case: "restarted long ago by a clean exit",
      pod: podOf(
        container({
          restartCount: 8,
          ready: false,
          state: { running: {} },
          lastState: { terminated: { exitCode: 0 } },
        }),
      ),
      want: ["PodStarting", "transient"],
    },
    {
      case: "out of memory",
      pod: podOf(
        container({
          restartCount: 4,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
        }),
      ),
      want: ["OutOfMemory", "permanent"],
    },
    {
      case: "an init container crashes",
      pod: podOf({
        initContainerStatuses: [{ name: "wait", restartCount: 5, state: { waiting: { reason: "CrashLoopBackOff" } } }],
      }),
      want: ["CrashLoop", "permanent"],
    },
    {
      case: "no node with enough capacity",
      pod: podOf({
        conditions: [
          { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes: 3 Insufficient cpu." },
        ],
      }),
      want: ["Unschedulable", "permanent"],
    },
    {
      case: "all nodes are not ready at the moment",
      pod: podOf({
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }",
          },
        ],
      }),
      want: ["Unschedulable", "transient"],
    },
    {
      case: "a scheduling gate",
      pod: podOf({ conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
      want: ["SchedulingGated", "transient"],
    },
    {
      case: "evicted",
      pod: podOf({ phase: "Failed", reason: "Evicted", message: "low on memory" }),
      want: ["Evicted", "transient"],
    },
    {
      case: "a volume that is not attached",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedMount", "MountVolume.SetUp failed: timed out")],
      want: ["VolumeMount", "transient"],
    },
    {
      case: "a volume of a missing ConfigMap",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedMount", 'configmap "x" not found')],
      want: ["VolumeMount", "permanent"],
    },
    {
      case: "ignores a past mount failure of a running container",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("FailedMount", "timed out")],
      want: ["PodStarting", "transient"],
    },
    {
      case: "no sandbox",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedCreatePodSandBox", "network plugin not ready")],
      want: ["PodSandbox", "transient"],
    },
    {
      case: "a failing probe",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("Unhealthy", "Readiness probe failed")],
      want: ["ProbeFailing", "transient"],
    },
    {
      case: "ignores events of an earlier pod of the same name",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("Unhealthy", "x", { involvedObject: { kind: "Pod", name: "p", uid: "other" } })],
      want: ["PodStarting", "transient"],
    },
    {
      case: "the node is not ready",
      pod: podOf({}, { spec: { nodeName: "n1" } }),
      nodes: [node("n1", "Unknown")],
      want: ["NodeLost", "transient"],
    },
    {
      case: "the node no longer exists",
      pod: podOf({}, { spec: { nodeName: "n1" } }),
      nodes: [node("n2", "True")],
      want: ["NodeLost", "transient"],
    },
    {
      case: "no permission to read nodes",
      pod: podOf({}, { spec: { nodeName: "n1" } }),
      want: ["PodStarting", "transient"],
    },
    {
      case: "no observation yet",
      pod: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } } as Pod,
      want: ["PodStarting", "transient"],
    },
  ])("$case", ({ pod, events = [], nodes = [], want }) => {
    const found = diagnosePod(pod, { events, nodes });
    expect([found?.reason, found?.verdict]).toEqual(want);
    expect(found?.action).not.toBe("");
  });

  test.each([
    { case: "ready", pod: podOf({ conditions: [{ type: "Ready", status: "True" }] }) },
    { case: "succeeded", pod: podOf({ phase: "Succeeded" }) },
    { case: "terminating", pod: podOf({}, { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } }) },
  ])("no finding: $case", ({ pod }) => {
    expect(diagnosePod(pod, { events: [], nodes: [] })).toBeUndefined();
  });

  test("reports a terminating pod on a lost node", () => {
    const pod = podOf(
      {},
      { spec: { nodeName: "n1" }, metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    );
    expect(diagnosePod(pod, { events: [], nodes: [node("n1", "False")] })?.reason).toBe("NodeLost");
  });

  test("gives the same message while pulling and while backing off", () => {
    const events = [event("Failed", "Failed to pull image: not found")];
    const messages = [podOf(waiting("ErrImagePull", "not found")), podOf(waiting("ImagePullBackOff", "Back-off"))].map(
      (pod) => diagnosePod(pod, { events, nodes: [] })?.message,
    );
    expect(messages[0]).toBe(messages[1]);
  });
});

test("reads events of both APIs", () => {
  const about = { kind: "Pod", name: "p" };
  const base = { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, type: "Normal", reason: "R" };
  const core = {
    ...base,
    message: "m",
    involvedObject: about,
    count: 3,
    lastTimestamp: "2026-01-01T00:00:00Z",
    eventTime: null,
  };
  const newer = {
    ...base,
    note: "m",
    regarding: about,
    series: { count: 3, lastObservedTime: "2026-01-01T00:00:00Z" },
  };
  expect(toObservedEvent(core)).toEqual(toObservedEvent(newer));
  expect(toObservedEvent(core)).toMatchObject({
    count: 3,
    lastSeen: "2026-01-01T00:00:00Z",
    warning: false,
    subject: about,
  });
});
