import { describe, expect, test } from "vitest";
import type { Stored } from "@oaas/kube-core";
import { sumsOf } from "../objects/pods.ts";
import type { Condition, Container, ContainerResources, ContainerStatus, Pod } from "../objects/typed.ts";
import { resizeContainers, type ResizeStep } from "./pod-resize.ts";

const SMALL: ContainerResources = { requests: { cpu: "100m", memory: "64Mi" } };
const LARGE: ContainerResources = { requests: { cpu: "2", memory: "64Mi" } };
const RUNNING: ContainerStatus = {
  name: "web",
  image: "example.test/web:1",
  imageID: "",
  ready: true,
  restartCount: 0,
  lastState: {},
  state: { running: { startedAt: "" } },
};
const EFFECTIVE: ContainerStatus = { ...RUNNING, resources: SMALL, allocatedResources: SMALL.requests ?? {} };

interface Given {
  readonly resources: ContainerResources;
  readonly status: ContainerStatus;
  readonly conditions?: readonly Condition[];
  readonly resizePolicy?: Container["resizePolicy"];
  readonly used?: string;
  readonly allocatable?: string;
}

function step({ resources, status, conditions = [], resizePolicy, used = "0", allocatable = "4" }: Given): ResizeStep {
  const container: Container = { name: "web", resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u", resourceVersion: "1", generation: 2 },
    spec: { containers: [container] },
    status: { conditions },
  } as Stored<Pod>;
  const nodeRoom = () => ({ allocatable: sumsOf({ cpu: allocatable, memory: "1Gi" }), used: sumsOf({ cpu: used }) });
  return resizeContainers({ pod, nodeRoom, now: 0 }, { inits: [], containers: [status] });
}

function text({ conditions }: ResizeStep): readonly string[] {
  return conditions.map(({ type, reason = "", observedGeneration }) => `${type} ${reason} ${observedGeneration}`);
}

const GRANTED: Condition = { type: "PodResizeInProgress", status: "True", observedGeneration: 2 };
const DEFERRED: Condition = {
  type: "PodResizePending",
  status: "True",
  reason: "Deferred",
  message: "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  observedGeneration: 2,
};

describe("in-place resize", () => {
  test("a started container reports its resources", () => {
    const { statuses, conditions } = step({ resources: SMALL, status: RUNNING });
    expect(statuses.containers).toEqual([EFFECTIVE]);
    expect(conditions).toEqual([]);
  });

  test("a container without resources reports none", () => {
    expect(step({ resources: {}, status: RUNNING }).statuses.containers).toEqual([{ ...RUNNING, resources: {} }]);
  });

  test("grants what fits, and changes the container in the next step without a restart", () => {
    const granted = step({ resources: LARGE, status: EFFECTIVE, used: "2" });
    expect(text(granted)).toEqual(["PodResizeInProgress  2"]);
    const [status = RUNNING] = granted.statuses.containers;
    expect(status).toMatchObject({ allocatedResources: LARGE.requests, resources: SMALL });
    const changed = step({ resources: LARGE, status, conditions: granted.conditions });
    expect(text(changed)).toEqual([]);
    expect(changed.statuses.containers).toMatchObject([{ resources: LARGE, restartCount: 0, ready: true }]);
    expect(changed.events.map(({ reason }) => reason)).toEqual(["ResizeCompleted"]);
  });

  test("a newer spec is granted before it takes effect", () => {
    const next = step({ resources: LARGE, status: EFFECTIVE, conditions: [{ ...GRANTED, observedGeneration: 1 }] });
    expect(text(next)).toEqual(["PodResizeInProgress  2"]);
    expect(next.statuses.containers).toMatchObject([{ resources: SMALL }]);
  });

  test("waits for the other pods of the node, and reports it once", () => {
    const waiting = step({ resources: LARGE, status: EFFECTIVE, used: "3" });
    expect(waiting.conditions).toMatchObject([DEFERRED]);
    expect(waiting.events.map(({ reason }) => reason)).toEqual(["ResizeDeferred"]);
    expect(waiting.waitMs).toBe(30_000);
    const again = step({ resources: LARGE, status: EFFECTIVE, used: "3", conditions: waiting.conditions });
    expect(again).toMatchObject({ conditions: waiting.conditions, events: [] });
  });

  test("reports a resize that the node can never provide", () => {
    const { conditions, statuses } = step({ resources: LARGE, status: EFFECTIVE, allocatable: "1" });
    const message = "Node didn't have enough capacity: cpu, requested: 2000, capacity: 1000";
    expect(conditions).toMatchObject([{ type: "PodResizePending", reason: "Infeasible", message }]);
    expect(statuses.containers).toEqual([EFFECTIVE]);
  });

  test("drops the condition when the spec returns to the resources in effect", () => {
    expect(text(step({ resources: SMALL, status: EFFECTIVE, conditions: [DEFERRED] }))).toEqual([]);
  });

  test("restarts a container whose policy for a changed resource says so", () => {
    const policy = (resourceName: string): Container["resizePolicy"] => [
      { resourceName, restartPolicy: "RestartContainer" },
    ];
    const changed = { resources: LARGE, status: EFFECTIVE, conditions: [GRANTED] };
    expect(step({ ...changed, resizePolicy: policy("cpu") }).statuses.containers).toMatchObject([
      { resources: LARGE, restartCount: 1, lastState: { terminated: { exitCode: 0 } }, ready: true },
    ]);
    expect(step({ ...changed, resizePolicy: policy("memory") }).statuses.containers).toMatchObject([
      { resources: LARGE, restartCount: 0 },
    ]);
  });

  test("leaves a container that does not run", () => {
    const status: ContainerStatus = { ...RUNNING, state: { waiting: { reason: "ImagePullBackOff" } } };
    expect(step({ resources: LARGE, status }).statuses.containers).toEqual([status]);
  });
});
