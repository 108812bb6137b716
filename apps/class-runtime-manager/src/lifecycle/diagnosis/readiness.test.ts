import { describe, expect, test } from "vitest";
import type { Workload } from "../observation/observed-objects.ts";
import { isWorkload, readinessOf } from "./readiness.ts";

const API = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  Job: "batch/v1",
  Service: "serving.knative.dev/v1",
};

function workload(
  kind: keyof typeof API,
  spec: Workload["spec"],
  status?: Workload["status"],
  generation = 1,
): Workload {
  return {
    apiVersion: API[kind],
    kind,
    metadata: { name: "w", generation },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

const condition = (type: string, status: string, reason = "", message = "") => ({ type, status, reason, message });

describe("Deployment: as kubectl rollout status", () => {
  const full = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  test.each([
    { why: "complete", status: full, want: { ready: true, serving: true, reason: "Ready", readyReplicas: 2 } },
    {
      why: "just created",
      status: undefined,
      want: { ready: false, serving: false, reason: "Starting", readyReplicas: 0 },
    },
    {
      why: "the status is about an older spec",
      status: full,
      generation: 2,
      want: { ready: false, serving: true, reason: "RollingOut" },
    },
    {
      why: "not all are updated",
      status: { ...full, updatedReplicas: 1, replicas: 3 },
      want: { ready: false, serving: true, reason: "RollingOut" },
    },
    { why: "old pods still terminate", status: { ...full, replicas: 3 }, want: { ready: false, reason: "RollingOut" } },
    {
      why: "not all are available",
      status: { ...full, availableReplicas: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      why: "none is available",
      status: { ...full, availableReplicas: 0 },
      want: { ready: false, serving: false, reason: "Starting" },
    },
    {
      why: "below its own minimum",
      status: { ...full, availableReplicas: 1, conditions: [condition("Available", "False")] },
      want: { ready: false, serving: false },
    },
    {
      why: "progress deadline exceeded",
      status: {
        ...full,
        updatedReplicas: 1,
        conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")],
      },
      want: { ready: false, failed: true, reason: "ProgressDeadline" },
    },
    {
      why: "ignores a deadline of an older generation",
      status: { ...full, conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")] },
      generation: 2,
      want: { ready: false, failed: false },
    },
  ])("$why", ({ status, generation, want }) => {
    expect(readinessOf(workload("Deployment", { replicas: 2 }, status, generation))).toMatchObject(want);
  });

  test("is ready with zero desired replicas", () => {
    expect(readinessOf(workload("Deployment", { replicas: 0 }, { observedGeneration: 1 }))).toMatchObject({
      ready: true,
      desired: 0,
    });
  });

  test("paused", () => {
    const paused = workload(
      "Deployment",
      { replicas: 2, paused: true },
      { observedGeneration: 1, replicas: 2, updatedReplicas: 0 },
    );
    expect(readinessOf(paused)).toMatchObject({ ready: false, reason: "Paused" });
  });
});

describe("StatefulSet: as kubectl rollout status", () => {
  const full = {
    observedGeneration: 1,
    readyReplicas: 3,
    availableReplicas: 3,
    updatedReplicas: 3,
    currentRevision: "a",
    updateRevision: "a",
  };
  const spec = (strategy?: NonNullable<Workload["spec"]>["updateStrategy"]): Workload["spec"] => ({
    replicas: 3,
    ...(strategy === undefined ? {} : { updateStrategy: strategy }),
  });
  test.each([
    { why: "complete", spec: spec(), status: full, want: { ready: true } },
    {
      why: "some are not ready",
      spec: spec(),
      status: { ...full, availableReplicas: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      why: "none is",
      spec: spec(),
      status: { ...full, availableReplicas: 0 },
      want: { ready: false, serving: false, reason: "Starting" },
    },
    {
      why: "two revisions",
      spec: spec(),
      status: { ...full, updateRevision: "b" },
      want: { ready: false, reason: "RollingOut" },
    },
    {
      why: "updated by hand",
      spec: spec({ type: "OnDelete" }),
      status: { ...full, updateRevision: "b" },
      want: { ready: true },
    },
    {
      why: "rolled out to its partition",
      spec: spec({ rollingUpdate: { partition: 2 } }),
      status: { ...full, updateRevision: "b", updatedReplicas: 1 },
      want: { ready: true },
    },
    {
      why: "not yet",
      spec: spec({ rollingUpdate: { partition: 1 } }),
      status: { ...full, updateRevision: "b", updatedReplicas: 1 },
      want: { ready: false },
    },
  ])("$why", ({ spec: given, status, want }) => {
    expect(readinessOf(workload("StatefulSet", given, status))).toMatchObject(want);
  });
});

describe("DaemonSet", () => {
  const full = {
    observedGeneration: 1,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: 3,
    numberReady: 3,
    numberAvailable: 3,
  };
  test.each([
    { why: "complete", status: full, want: { ready: true, desired: 3 } },
    {
      why: "rolling out",
      status: { ...full, updatedNumberScheduled: 1 },
      want: { ready: false, reason: "RollingOut" },
    },
    {
      why: "not all available",
      status: { ...full, numberAvailable: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      why: "no matching node",
      status: { observedGeneration: 1, desiredNumberScheduled: 0 },
      want: { ready: false, failed: true, reason: "Unschedulable" },
    },
    { why: "not observed by its controller yet", status: undefined, want: { ready: false, failed: false } },
  ])("$why", ({ status, want }) => {
    expect(readinessOf(workload("DaemonSet", {}, status))).toMatchObject(want);
  });
});

describe("Job", () => {
  test.each([
    {
      why: "complete",
      spec: {},
      status: { succeeded: 1, conditions: [condition("Complete", "True")] },
      want: { ready: true },
    },
    { why: "running", spec: {}, status: { active: 1, ready: 1 }, want: { ready: true } },
    { why: "starting", spec: {}, status: { active: 1, ready: 0 }, want: { ready: false, reason: "Starting" } },
    {
      why: "partly complete, the rest running",
      spec: { parallelism: 3, completions: 4 },
      status: { succeeded: 2, ready: 2 },
      want: { ready: true },
    },
    {
      why: "failed",
      spec: {},
      status: { failed: 7, conditions: [condition("Failed", "True", "BackoffLimitExceeded", "too often")] },
      want: { ready: false, failed: true, reason: "JobFailed", message: "has failed: too often" },
    },
    {
      why: "about to fail",
      spec: {},
      status: { conditions: [condition("FailureTarget", "True", "PodFailurePolicy")] },
      want: { failed: true },
    },
    { why: "suspended", spec: { suspend: true }, status: {}, want: { ready: false, reason: "Paused" } },
  ])("$why", ({ spec, status, want }) => {
    expect(readinessOf(workload("Job", spec, status))).toMatchObject(want);
  });
});

describe("Knative Service", () => {
  test.each([
    {
      why: "ready",
      status: { observedGeneration: 1, url: "http://w", conditions: [condition("Ready", "True")] },
      want: { ready: true, serving: true, url: "http://w" },
    },
    {
      why: "not decided",
      status: { observedGeneration: 1, conditions: [condition("Ready", "Unknown")] },
      want: { ready: false, failed: false, reason: "Starting" },
    },
    {
      why: "a new revision fails, the old one serves",
      status: {
        observedGeneration: 1,
        conditions: [condition("Ready", "False", "RevisionFailed", "crashed"), condition("RoutesReady", "True")],
      },
      want: { ready: false, failed: true, serving: true, reason: "KnativeFailed" },
    },
    {
      why: "no image",
      status: {
        observedGeneration: 1,
        conditions: [condition("Ready", "False", "RevisionMissing", "Unable to fetch image x")],
      },
      want: { failed: true, serving: false, reason: "ImagePull" },
    },
    {
      why: "ready, but for an older spec",
      status: { observedGeneration: 1, conditions: [condition("Ready", "True")] },
      generation: 2,
      want: { ready: false },
    },
  ])("$why", ({ status, generation, want }) => {
    expect(readinessOf(workload("Service", {}, status, generation))).toMatchObject(want);
  });
});

test.each([
  { apiVersion: "v1", kind: "Service", is: false },
  { apiVersion: "serving.knative.dev/v1", kind: "Service", is: true },
  { apiVersion: "apps/v1", kind: "Deployment", is: true },
  { apiVersion: "example.com/v1", kind: "Deployment", is: false },
])("$apiVersion $kind is a workload: $is", ({ is, ...object }) => {
  expect(isWorkload(object)).toBe(is);
  expect(readinessOf({ ...object, metadata: {} }) !== undefined).toBe(is);
});
