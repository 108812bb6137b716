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
    { case: "complete", status: full, want: { ready: true, serving: true, reason: "Ready", readyReplicas: 2 } },
    {
      case: "just created",
      status: undefined,
      want: { ready: false, serving: false, reason: "Starting", readyReplicas: 0 },
    },
    {
      case: "the status is about an older spec",
      status: full,
      generation: 2,
      want: { ready: false, serving: true, reason: "RollingOut" },
    },
    {
      case: "not all are updated",
      status: { ...full, updatedReplicas: 1, replicas: 3 },
      want: { ready: false, serving: true, reason: "RollingOut" },
    },
    {
      case: "old pods still terminate",
      status: { ...full, replicas: 3 },
      want: { ready: false, reason: "RollingOut" },
    },
    {
      case: "not all are available",
      status: { ...full, availableReplicas: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      case: "none is available",
      status: { ...full, availableReplicas: 0 },
      want: { ready: false, serving: false, reason: "Starting" },
    },
    {
      case: "below its own minimum",
      status: { ...full, availableReplicas: 1, conditions: [condition("Available", "False")] },
      want: { ready: false, serving: true },
    },
    {
      case: "without pods, all of which may be unavailable",
      status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, conditions: [condition("Available", "True")] },
      want: { ready: false, serving: false },
    },
    {
      case: "an update whose image does not exist",
      status: { ...full, replicas: 3, updatedReplicas: 1 },
      want: { ready: false, serving: true, readyReplicas: 2, updatedReplicas: 0 },
    },
    {
      case: "an update with its first ready replica",
      status: { ...full, replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 1 },
      want: { ready: false, serving: true, readyReplicas: 3, updatedReplicas: 1 },
    },
    {
      case: "one of two replicas of the latest version crashes",
      status: { ...full, readyReplicas: 1, availableReplicas: 1 },
      want: { ready: false, serving: true, readyReplicas: 1, updatedReplicas: 1 },
    },
    {
      case: "progress deadline exceeded",
      status: {
        ...full,
        updatedReplicas: 1,
        conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")],
      },
      want: { ready: false, failed: true, reason: "ProgressDeadline" },
    },
    {
      case: "ignores a deadline of an older generation",
      status: { ...full, conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")] },
      generation: 2,
      want: { ready: false, failed: false },
    },
  ])("$case", ({ status, generation, want }) => {
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
    { case: "complete", spec: spec(), status: full, want: { ready: true } },
    {
      case: "some are not ready",
      spec: spec(),
      status: { ...full, availableReplicas: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      case: "none is",
      spec: spec(),
      status: { ...full, availableReplicas: 0 },
      want: { ready: false, serving: false, reason: "Starting" },
    },
    {
      case: "two revisions",
      spec: spec(),
      status: { ...full, updateRevision: "b" },
      want: { ready: false, reason: "RollingOut" },
    },
    {
      case: "updated by hand",
      spec: spec({ type: "OnDelete" }),
      status: { ...full, updateRevision: "b" },
      want: { ready: true },
    },
    {
      case: "rolled out to its partition",
      spec: spec({ rollingUpdate: { partition: 2 } }),
      status: { ...full, updateRevision: "b", updatedReplicas: 1 },
      want: { ready: true },
    },
    {
      case: "not yet",
      spec: spec({ rollingUpdate: { partition: 1 } }),
      status: { ...full, updateRevision: "b", updatedReplicas: 1 },
      want: { ready: false },
    },
  ])("$case", ({ spec: given, status, want }) => {
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
    { case: "complete", status: full, want: { ready: true, desired: 3 } },
    {
      case: "rolling out",
      status: { ...full, updatedNumberScheduled: 1 },
      want: { ready: false, reason: "RollingOut" },
    },
    {
      case: "not all available",
      status: { ...full, numberAvailable: 1 },
      want: { ready: false, serving: true, reason: "Scaling" },
    },
    {
      case: "no matching node",
      status: { observedGeneration: 1, desiredNumberScheduled: 0 },
      want: { ready: false, failed: true, reason: "Unschedulable" },
    },
    { case: "not observed by its controller yet", status: undefined, want: { ready: false, failed: false } },
  ])("$case", ({ status, want }) => {
    expect(readinessOf(workload("DaemonSet", {}, status))).toMatchObject(want);
  });
});

describe("Job", () => {
  test.each([
    {
      case: "complete",
      spec: {},
      status: { succeeded: 1, conditions: [condition("Complete", "True")] },
      want: { ready: true },
    },
    { case: "running", spec: {}, status: { active: 1, ready: 1 }, want: { ready: true } },
    { case: "starting", spec: {}, status: { active: 1, ready: 0 }, want: { ready: false, reason: "Starting" } },
    {
      case: "partly complete, the rest running",
      spec: { parallelism: 3, completions: 4 },
      status: { succeeded: 2, ready: 2 },
      want: { ready: true },
    },
    {
      case: "failed",
      spec: {},
      status: { failed: 7, conditions: [condition("Failed", "True", "BackoffLimitExceeded", "too often")] },
      want: { ready: false, failed: true, reason: "JobFailed", message: "has failed: too often" },
    },
    {
      case: "about to fail",
      spec: {},
      status: { conditions: [condition("FailureTarget", "True", "PodFailurePolicy")] },
      want: { failed: true },
    },
    { case: "suspended", spec: { suspend: true }, status: {}, want: { ready: false, reason: "Paused" } },
  ])("$case", ({ spec, status, want }) => {
    expect(readinessOf(workload("Job", spec, status))).toMatchObject(want);
  });
});

describe("Knative Service", () => {
  test.each([
    {
      case: "ready",
      status: { observedGeneration: 1, url: "http://w", conditions: [condition("Ready", "True")] },
      want: { ready: true, serving: true, url: "http://w" },
    },
    {
      case: "not decided",
      status: { observedGeneration: 1, conditions: [condition("Ready", "Unknown")] },
      want: { ready: false, failed: false, reason: "Starting" },
    },
    {
      case: "a new revision fails, the old one serves",
      status: {
        observedGeneration: 1,
        conditions: [condition("Ready", "False", "RevisionFailed", "crashed"), condition("RoutesReady", "True")],
      },
      want: { ready: false, failed: true, serving: true, reason: "KnativeFailed" },
    },
    {
      case: "no image",
      status: {
        observedGeneration: 1,
        conditions: [condition("Ready", "False", "RevisionMissing", "Unable to fetch image x")],
      },
      want: { failed: true, serving: false, reason: "ImagePull" },
    },
    {
      case: "ready, but for an older spec",
      status: { observedGeneration: 1, conditions: [condition("Ready", "True")] },
      generation: 2,
      want: { ready: false },
    },
  ])("$case", ({ status, generation, want }) => {
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
