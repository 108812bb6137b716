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
      why: "an image nobody has",
      pod: podOf(waiting("ErrImagePull", "manifest unknown")),
      want: ["ImagePull", "permanent"],
    },
    {
      why: "an image nobody may have",
      pod: podOf(waiting("ErrImagePull", "pull access denied, repository does not exist")),
      want: ["ImagePull", "permanent"],
    },
    {
      why: "a registry that is away",
      pod: podOf(waiting("ErrImagePull", "dial tcp: i/o timeout")),
      want: ["ImagePull", "transient"],
    },
    {
      why: "too many pulls",
      pod: podOf(waiting("ErrImagePull", "429 Too Many Requests")),
      want: ["ImagePull", "transient"],
    },
    { why: "a name that is none", pod: podOf(waiting("InvalidImageName")), want: ["ImagePull", "permanent"] },
    {
      why: "backing off; the event knows why",
      pod: podOf(waiting("ImagePullBackOff", "Back-off pulling image")),
      events: [event("Failed", "Error: ErrImagePull"), event("Failed", "Failed to pull image: connection refused")],
      want: ["ImagePull", "transient"],
    },
    {
      why: "a missing Secret",
      pod: podOf(waiting("CreateContainerConfigError", 'secret "x" not found')),
      want: ["ContainerConfig", "permanent"],
    },
    {
      why: "crashed once: it may find its feet",
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
      why: "crashing again and again",
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
      why: "running, between two crashes",
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
      why: "restarted long ago by a clean exit",
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
      why: "out of memory",
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
      why: "an init container crashes",
      pod: podOf({
        initContainerStatuses: [{ name: "wait", restartCount: 5, state: { waiting: { reason: "CrashLoopBackOff" } } }],
      }),
      want: ["CrashLoop", "permanent"],
    },
    {
      why: "no node has room",
      pod: podOf({
        conditions: [
          { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes: 3 Insufficient cpu." },
        ],
      }),
      want: ["Unschedulable", "permanent"],
    },
    {
      why: "all nodes are not ready at the moment",
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
      why: "a gate",
      pod: podOf({ conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
      want: ["SchedulingGated", "transient"],
    },
    {
      why: "evicted",
      pod: podOf({ phase: "Failed", reason: "Evicted", message: "low on memory" }),
      want: ["Evicted", "transient"],
    },
    {
      why: "a volume that does not come",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedMount", "MountVolume.SetUp failed: timed out")],
      want: ["VolumeMount", "transient"],
    },
    {
      why: "a volume of a ConfigMap that is not there",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedMount", 'configmap "x" not found')],
      want: ["VolumeMount", "permanent"],
    },
    {
      why: "an old mount trouble of a container that runs by now",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("FailedMount", "timed out")],
      want: ["PodStarting", "transient"],
    },
    {
      why: "no sandbox",
      pod: podOf(waiting("ContainerCreating")),
      events: [event("FailedCreatePodSandBox", "network plugin not ready")],
      want: ["PodSandbox", "transient"],
    },
    {
      why: "a probe that does not succeed yet",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("Unhealthy", "Readiness probe failed")],
      want: ["ProbeFailing", "transient"],
    },
    {
      why: "an event about an earlier pod of that name tells nothing",
      pod: podOf(container({ state: { running: {} } })),
      events: [event("Unhealthy", "x", { involvedObject: { kind: "Pod", name: "p", uid: "other" } })],
      want: ["PodStarting", "transient"],
    },
    {
      why: "the node is not ready",
      pod: podOf({}, { spec: { nodeName: "n1" } }),
      nodes: [node("n1", "Unknown")],
      want: ["NodeLost", "transient"],
    },
    {
      why: "the node is gone",
      pod: podOf({}, { spec: { nodeName: "n1" } }),
      nodes: [node("n2", "True")],
      want: ["NodeLost", "transient"],
    },
    { why: "nodes may not be read", pod: podOf({}, { spec: { nodeName: "n1" } }), want: ["PodStarting", "transient"] },
    {
      why: "nothing known yet",
      pod: { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } } as Pod,
      want: ["PodStarting", "transient"],
    },
  ])("$why", ({ pod, events = [], nodes = [], want }) => {
    const found = diagnosePod(pod, { events, nodes });
    expect([found?.reason, found?.verdict]).toEqual(want);
    expect(found?.action).not.toBe("");
  });

  test.each([
    { why: "ready", pod: podOf({ conditions: [{ type: "Ready", status: "True" }] }) },
    { why: "done", pod: podOf({ phase: "Succeeded" }) },
    { why: "on its way out", pod: podOf({}, { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } }) },
  ])("nothing to say: $why", ({ pod }) => {
    expect(diagnosePod(pod, { events: [], nodes: [] })).toBeUndefined();
  });

  test("a pod that cannot end on a lost node is told, though it is on its way out", () => {
    const pod = podOf(
      {},
      { spec: { nodeName: "n1" }, metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    );
    expect(diagnosePod(pod, { events: [], nodes: [node("n1", "False")] })?.reason).toBe("NodeLost");
  });

  test("kubelets that try and kubelets that back off say the same in the end", () => {
    const events = [event("Failed", "Failed to pull image: not found")];
    const messages = [podOf(waiting("ErrImagePull", "not found")), podOf(waiting("ImagePullBackOff", "Back-off"))].map(
      (pod) => diagnosePod(pod, { events, nodes: [] })?.message,
    );
    expect(messages[0]).toBe(messages[1]);
  });
});

test("both kinds of event are read", () => {
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
