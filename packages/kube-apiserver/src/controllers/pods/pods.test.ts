import { describe, expect, test } from "vitest";
import type { Stored } from "@oaas/kube-core";
import { sortForDeletion } from "../workloads/replica-set.ts";
import type { Container, ContainerStatus, Node, Pod } from "../objects/typed.ts";
import { podRequests, qosClass } from "../objects/pods.ts";
import { evictionTime } from "../nodes/eviction.ts";
import { tolerates } from "../nodes/node-state.ts";
import { findFreeAddress } from "./addresses.ts";
import { stepContainer, createWaitingStatus, type ContainerBehaviour } from "./container-lifecycle.ts";
import { summarizeStatus } from "./pod-status.ts";

const container: Container = { name: "web", image: "example.test/web:1" };
const creating = createWaitingStatus(container, "ContainerCreating");

/** Simulates a container for a time and returns each state with its start time. */
function life(behaviour: ContainerBehaviour, forMs: number, restartPolicy = "Always"): string[] {
  let status: ContainerStatus = creating;
  let [now, since, pulls] = [0, 0, 0];
  const seen: string[] = [];
  while (now <= forMs) {
    const step = stepContainer({
      container,
      status,
      behaviour,
      inStateMs: now - since,
      pulls,
      now,
      podText: "p_default(uid)",
      restartPolicy,
    });
    if (step.status !== status) {
      const { waiting, running, terminated } = step.status.state;
      if (waiting?.reason === "ErrImagePull") pulls += 1;
      seen.push(
        `${now / 1000}s ${waiting?.reason ?? (running ? "running" : `${terminated?.reason}(${terminated?.exitCode})`)} ×${step.status.restartCount}${step.status.ready ? " ready" : ""}`,
      );
      [status, since] = [step.status, now];
    }
    if (step.waitMs === undefined) break;
    now += Math.max(step.waitMs - (now - since), 1);
  }
  return seen;
}

describe("container lifecycle", () => {
  test.each<{ case: string; behaviour: ContainerBehaviour; policy?: string; ms: number; seen: string[] }>([
    { case: "it runs", behaviour: { kind: "runs", isReady: true }, ms: 1000, seen: ["0s running ×0 ready"] },
    {
      case: "runs without becoming ready",
      behaviour: { kind: "runs", isReady: false },
      ms: 1000,
      seen: ["0s running ×0"],
    },
    {
      case: "completes",
      behaviour: { kind: "runs", isReady: true, completesAfterMs: 2000 },
      ms: 9000,
      seen: ["0s running ×0 ready", "2s Completed(0) ×0"],
    },
    {
      case: "crashes once with restart policy Never",
      behaviour: { kind: "crashes", afterMs: 1000, exitCode: 2, restarts: 0 },
      policy: "Never",
      ms: 9000,
      seen: ["0s running ×0", "1s Error(2) ×0"],
    },
    {
      case: "crashes repeatedly",
      behaviour: { kind: "crashes", afterMs: 1000, exitCode: 1, restarts: 0 },
      ms: 40_000,
      seen: [
        "0s running ×0",
        "1s running ×1",
        "2s CrashLoopBackOff ×1",
        "12s running ×2",
        "13s CrashLoopBackOff ×2",
        "33s running ×3",
        "34s CrashLoopBackOff ×3",
      ],
    },
    {
      case: "crashed often before",
      behaviour: { kind: "crashes", afterMs: 1000, exitCode: 1, restarts: 9 },
      ms: 301_500,
      seen: ["0s CrashLoopBackOff ×9", "300s running ×10", "301s CrashLoopBackOff ×10"],
    },
  ])("$case", ({ behaviour, policy, ms, seen }) => {
    expect(life(behaviour, ms, policy)).toEqual(seen);
  });
});

describe("pod status", () => {
  const pod = (spec: object = {}): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [container], ...spec },
  });
  const state = (of: object, restartCount = 0): ContainerStatus => ({ ...creating, restartCount, ...of });
  const RUNNING = state({ ready: true, state: { running: { startedAt: "" } } });
  const DONE = state({ state: { terminated: { exitCode: 0, reason: "Completed" } } });
  const ERROR = state({ state: { terminated: { exitCode: 1, reason: "Error" } } });
  const LOOP = state({ state: { waiting: { reason: "CrashLoopBackOff" } } }, 3);

  test.each([
    { case: "starting", statuses: [creating], policy: "Always", phase: "Pending", ready: "False ContainersNotReady" },
    { case: "running", statuses: [RUNNING], policy: "Always", phase: "Running", ready: "True" },
    {
      case: "one of two containers running",
      statuses: [RUNNING, LOOP],
      policy: "Always",
      phase: "Running",
      ready: "False ContainersNotReady",
    },
    { case: "succeeded", statuses: [DONE], policy: "Never", phase: "Succeeded", ready: "False PodCompleted" },
    { case: "failed", statuses: [DONE, ERROR], policy: "Never", phase: "Failed", ready: "False PodFailed" },
    {
      case: "exited and to be restarted",
      statuses: [ERROR],
      policy: "OnFailure",
      phase: "Running",
      ready: "False ContainersNotReady",
    },
  ])("$case", ({ statuses, policy, phase, ready }) => {
    const status = summarizeStatus(
      pod({ restartPolicy: policy }),
      { inits: [], containers: statuses },
      { podIP: () => "10.0.0.2", hostIP: "127.0.0.1" },
      0,
    );
    const condition = status.conditions?.find(({ type }) => type === "Ready");
    expect(status.phase).toBe(phase);
    expect([condition?.status, condition?.reason].filter((one) => one !== undefined).join(" ")).toBe(ready);
    expect(status.podIP).toBe(phase === "Pending" ? undefined : "10.0.0.2");
  });

  test.each([
    { case: "no requests", containers: [{ name: "a" }], qos: "BestEffort", cpu: undefined },
    {
      case: "limits count as requests",
      containers: [{ name: "a", resources: { limits: { cpu: "1", memory: "1Gi" } } }],
      qos: "Guaranteed",
      cpu: 1_000_000_000n,
    },
    {
      case: "some requests",
      containers: [{ name: "a", resources: { requests: { cpu: "100m" } } }, { name: "b" }],
      qos: "Burstable",
      cpu: 100_000_000n,
    },
    {
      case: "requests below limits",
      containers: [
        { name: "a", resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "1Gi" } } },
      ],
      qos: "Burstable",
      cpu: 1_000_000_000n,
    },
  ])("$case", ({ containers, qos, cpu }) => {
    expect(qosClass(pod({ containers }))).toBe(qos);
    expect(podRequests(pod({ containers }))["cpu"]?.nano).toBe(cpu);
  });

  test("the largest init container counts when it exceeds the sum of the containers", () => {
    const initContainers = [{ name: "i", resources: { requests: { cpu: "2" } } }];
    const containers = [{ name: "a", resources: { requests: { cpu: "1", memory: "1Gi" } } }];
    const sums = podRequests(pod({ initContainers, containers }));
    expect([sums["cpu"]?.nano, sums["memory"]?.nano]).toEqual([2_000_000_000n, 1_073_741_824_000_000_000n]);
  });
});

test("allocates the lowest free address, never the network address", () => {
  expect(findFreeAddress("10.244.3.0/24", new Set())).toBe("10.244.3.2");
  expect(findFreeAddress("10.244.3.0/24", new Set(["10.244.3.2", "10.244.3.4"]))).toBe("10.244.3.3");
  expect(
    findFreeAddress(
      "10.250.0.0/16",
      new Set(
        Array.from({ length: 300 }, (_, index) => `10.250.${Math.floor((index + 2) / 256)}.${(index + 2) % 256}`),
      ),
    ),
  ).toBe("10.250.1.46");
});

test.each([
  { case: "no toleration", tolerations: [], is: false },
  { case: "same key", tolerations: [{ key: "k", operator: "Exists" as const }], is: true },
  { case: "other value", tolerations: [{ key: "k", value: "w" }], is: false },
  { case: "same value", tolerations: [{ key: "k", value: "v" }], is: true },
  {
    case: "other effect",
    tolerations: [{ key: "k", operator: "Exists" as const, effect: "NoSchedule" }],
    is: false,
  },
  { case: "toleration of all taints", tolerations: [{ operator: "Exists" as const }], is: true },
  { case: "empty key", tolerations: [{}], is: false },
])("matches a taint and a toleration: $case", ({ tolerations, is }) => {
  expect(tolerates(tolerations, { key: "k", value: "v", effect: "NoExecute" }) !== undefined).toBe(is);
});

test.each([
  { case: "no taint", taints: [], at: undefined },
  { case: "not tolerated: at once", taints: [{ key: "x", effect: "NoExecute" as const }], at: 0 },
  { case: "NoSchedule does not evict", taints: [{ key: "x", effect: "NoSchedule" as const }], at: undefined },
  {
    case: "tolerated for a time",
    taints: [{ key: "k", effect: "NoExecute" as const, timeAdded: "1970-01-01T00:01:00Z" }],
    at: 360_000,
  },
  { case: "tolerated forever", taints: [{ key: "l", effect: "NoExecute" as const }], at: undefined },
])("evicts a pod from its node: $case", ({ taints, at }) => {
  const tolerations = [
    { key: "k", operator: "Exists" as const, tolerationSeconds: 300 },
    { key: "l", operator: "Exists" as const },
  ];
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { tolerations } };
  const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { taints } };
  expect(evictionTime(pod, node.spec?.taints ?? [])).toBe(at);
});

test("sorts pods by deletion preference", () => {
  const pod = (
    name: string,
    more: { node?: string; phase?: string; ready?: string; cost?: string; born?: string } = {},
  ): Stored<Pod> => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: more.born ?? "2026-01-01T00:00:00Z",
      ...(more.cost === undefined ? {} : { annotations: { "controller.kubernetes.io/pod-deletion-cost": more.cost } }),
    },
    spec: more.node === undefined ? {} : { nodeName: more.node },
    status: {
      phase: more.phase ?? "Running",
      ...(more.ready === undefined
        ? {}
        : { conditions: [{ type: "Ready", status: "True", lastTransitionTime: more.ready }] }),
    },
  });
  const READY = "2026-01-01T00:00:10Z";
  const pods = [
    pod("dear", { node: "a", ready: READY, cost: "10" }),
    pod("alone", { node: "b", ready: READY }),
    pod("crowded", { node: "a", ready: READY }),
    pod("young", { node: "a", ready: READY, born: "2026-01-01T00:00:09Z" }),
    pod("unready", { node: "b" }),
    pod("pending", { node: "c", phase: "Pending" }),
    pod("homeless", { phase: "Pending" }),
  ];
  expect(sortForDeletion(pods).map(({ metadata }) => metadata.name)).toEqual([
    "homeless",
    "pending",
    "unready",
    "young",
    "crowded",
    "alone",
    "dear",
  ]);
});
