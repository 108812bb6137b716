import { classRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import type { Pod } from "../lifecycle/observation/observed-objects.ts";
import type { RenderedFunction } from "../rendering/model/rendered.ts";
import { classEnforcement, type ClassEnforcement } from "./class-enforcement.ts";
import { enforceableValues, type EnforceableValue } from "./enforceable-values.ts";
import { enforcedValues } from "./enforced-values.ts";
import { planPodResizes } from "./pod-resizes.ts";

function specOf(spec: object = {}) {
  const functions = [{ function_key: "echo", provision_config: { container_image: "example.test/echo:1" } }];
  const document = { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", metadata: { name: "hello" } };
  return classRuntime.parse({ ...document, spec: { functions, ...spec } }).spec;
}

describe("the enforcement of a class", () => {
  test.each<{ why: string; spec: object; annotation?: string; level?: "off" | "basic" | "full"; mode: string }>([
    { why: "is observe by default", spec: {}, mode: "observe" },
    { why: "is what the spec states", spec: { enforcement: { mode: "enforce" } }, mode: "enforce" },
    { why: "reads the deprecated location", spec: { nfr: { enforcement: { mode: "enforce" } } }, mode: "enforce" },
    {
      why: "is overridden by the annotation",
      spec: { enforcement: { mode: "enforce" } },
      annotation: "off",
      mode: "off",
    },
    { why: "accepts on", spec: {}, annotation: "on", mode: "enforce" },
    {
      why: "ignores an unknown word",
      spec: { enforcement: { mode: "enforce" } },
      annotation: "maybe",
      mode: "enforce",
    },
    {
      why: "is observe where the level is off",
      spec: { enforcement: { mode: "enforce" } },
      level: "off",
      mode: "observe",
    },
  ])("$why", ({ spec, annotation, level = "full", mode }) => {
    const annotations = annotation === undefined ? {} : { "oaas.io/enforcement": annotation };
    expect(classEnforcement(specOf(spec), annotations, level).mode).toBe(mode);
  });

  test("has the dimensions that class and level allow", () => {
    const spec = specOf({ enforcement: { mode: "enforce", dimensions: ["replicas", "memory"] } });
    expect([...classEnforcement(spec, {}, "full").dimensions]).toEqual(["replicas", "max_replicas", "memory"]);
    expect([...classEnforcement(spec, {}, "basic").dimensions]).toEqual(["replicas", "max_replicas"]);
  });

  test("pauses until a time, and for ever when the time cannot be read", () => {
    const pause = (text: string) => classEnforcement(specOf(), { "oaas.io/enforcement-paused-until": text }, "full");
    expect(pause("2026-01-31T12:00:00Z").pausedUntilMs).toBe(Date.parse("2026-01-31T12:00:00Z"));
    expect(pause("tomorrow").pausedUntilMs).toBe(Number.MAX_SAFE_INTEGER);
    expect(pause("tomorrow").problems).toEqual([
      "annotation oaas.io/enforcement-paused-until is not a time; use RFC 3339, such as 2026-01-31T12:00:00Z",
    ]);
  });
});

const ENFORCE: ClassEnforcement = {
  mode: "enforce",
  dimensions: new Set(["replicas", "cpu", "memory"]),
  mayRestart: true,
  problems: [],
};

describe("enforced values", () => {
  const status = {
    enforcement_state: (["replicas", "cpu"] as const).map((dimension) => ({
      component: "echo",
      dimension,
      last_action: { at: "2026-01-01T00:00:00Z", from: 1, to: 400, lane: "stable" as const, verified: true },
    })),
  };

  test("are the last changes", () => {
    expect(enforcedValues(status, ENFORCE, false).get("echo")).toEqual({ replicas: 400, cpu: 400 });
  });

  test.each<{ why: string; over: Partial<ClassEnforcement>; values: unknown }>([
    { why: "the mode is observe", over: { mode: "observe" }, values: undefined },
    { why: "the dimension is not allowed", over: { dimensions: new Set(["cpu"]) }, values: { cpu: 400 } },
    { why: "pods must neither restart nor resize", over: { mayRestart: false }, values: { replicas: 400 } },
  ])("do not hold when $why", ({ over, values }) => {
    expect(enforcedValues(status, { ...ENFORCE, ...over }, false).get("echo")).toEqual(values);
  });
});

test("enforced CPU holds without restarts where pods are resized in place", () => {
  const last_action = { at: "2026-01-01T00:00:00Z", from: 1, to: 400, lane: "stable" as const, verified: true };
  const status = { enforcement_state: [{ component: "echo", dimension: "cpu" as const, last_action }] };
  expect(enforcedValues(status, { ...ENFORCE, mayRestart: false }, true).get("echo")).toEqual({ cpu: 400 });
});

test("the target of an autoscaler comes from the evidence of the last change, and not from a revert", () => {
  const last_action = { at: "2026-01-01T00:00:00Z", from: 1, to: 4, lane: "stable" as const, verified: true };
  const applied = (action: "apply" | "revert") => ({
    enforcement_state: [{ component: "echo", dimension: "replicas" as const, last_action }],
    last_applied_recommendations: [
      {
        component: "echo",
        dimension: "replicas" as const,
        target: 4,
        action,
        evidence: { window: "5m", query: "rps", values: { target_utilization: 0.55 } },
      },
    ],
  });
  expect(enforcedValues(applied("apply"), ENFORCE, false).get("echo")).toEqual({
    replicas: 4,
    targetUtilization: 0.55,
  });
  expect(enforcedValues(applied("revert"), ENFORCE, false).get("echo")).toEqual({ replicas: 4 });
  expect(enforcedValues(applied("apply"), { ...ENFORCE, mode: "observe" }, false).size).toBe(0);
});

const WORKLOAD = {
  functionKey: "echo",
  runtime: "workload" as const,
  workload: { apiVersion: "apps/v1", kind: "Deployment", namespace: "ns", name: "hello" },
  service: "hello",
  port: 80,
  predictedUrl: "",
  replicas: 3,
};

function podOf(
  over: { resources?: object; infeasible?: string; resizedBy?: string; phase?: string; deleted?: boolean } = {},
): Pod {
  const resources = over.resources ?? REQUESTS;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "hello-1",
      namespace: "ns",
      uid: "uid-1",
      labels: { "oaas.io/function": "echo" },
      ...(over.deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      ...(over.resizedBy === undefined ? {} : { managedFields: [{ manager: over.resizedBy, subresource: "resize" }] }),
    },
    spec: { containers: [{ name: "function", resources }] },
    status: {
      phase: over.phase ?? "Running",
      containerStatuses: [{ name: "function", resources: REQUESTS }],
      ...(over.infeasible === undefined
        ? {}
        : {
            conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible", message: over.infeasible }],
          }),
    },
  };
}

const REQUESTS = { requests: { cpu: "250m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } };

describe("enforceable values", () => {
  const rendered = (over: Partial<RenderedFunction> = {}): RenderedFunction => ({
    ...WORKLOAD,
    replicasOwner: "template",
    resources: { template: REQUESTS, running: REQUESTS },
    replicaLimits: { min: { value: 1, source: "template dev" }, max: { value: 9, source: "max_scale" } },
    ...over,
  });
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "hello", generation: 2 },
    spec: {
      replicas: 3,
      template: { spec: { containers: [{ resources: { requests: { cpu: "250m", memory: "128Mi" } } }] } },
    },
    status: { observedGeneration: 2, updatedReplicas: 3 },
  };
  const autoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "hello" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "hello" }, minReplicas: 2, maxReplicas: 7 },
  };
  const list = (
    given: {
      fn?: RenderedFunction;
      children?: readonly object[];
      spec?: object;
      enforcement?: ClassEnforcement;
      hasOdgm?: boolean;
      pods?: readonly Pod[];
      canResize?: boolean;
    } = {},
  ): Record<string, EnforceableValue> => {
    const values = enforceableValues({
      spec: specOf(given.spec),
      functions: [given.fn ?? rendered()],
      children: (given.children ?? [deployment]) as KubeObject[],
      pods: given.pods ?? [],
      canResize: given.canResize ?? false,
      hasOdgm: given.hasOdgm ?? false,
      enforcement: given.enforcement ?? ENFORCE,
    });
    return Object.fromEntries(values.map((value) => [`${value.component} ${value.dimension}`, value]));
  };

  test("count the replicas that have a node while others find none", () => {
    const pod = (name: string, conditions: readonly object[] = []) => {
      const one = podOf();
      return { ...one, metadata: { ...one.metadata, name }, status: { ...one.status, conditions } } as Pod;
    };
    const waiting = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }];
    expect(list({ pods: [pod("a"), pod("b"), pod("c", waiting)] })["echo replicas"]).toMatchObject({ schedulable: 2 });
    expect(list({ pods: [pod("a")] })["echo replicas"]).not.toHaveProperty("schedulable");
  });

  test("are replicas, CPU and memory of the live workload", () => {
    expect(list()).toMatchObject({
      "echo replicas": { current: 3, isAllowed: true, path: "Deployment/hello spec.replicas", blockers: [] },
      "echo cpu": { current: 250, isAllowed: true, path: "Deployment/hello resources.requests.cpu" },
      "echo memory": { current: 128 * 1024 * 1024, isAllowed: true },
    });
  });

  test("are the maximum of an autoscaler that the class lets enforcement raise, not below its minimum", () => {
    const maximumLimits = {
      min: { value: 7, source: "max_scale" },
      max: { value: 20, source: "enforcement.max_replicas" },
    };
    const fn = rendered({ replicasOwner: "autoscaler", maximumLimits });
    const values = list({ fn, children: [deployment, autoscaler] });
    expect(values["echo max_replicas"]).toMatchObject({
      current: 7,
      isAllowed: true,
      path: "HorizontalPodAutoscaler/hello spec.maxReplicas",
      minimums: [maximumLimits.min, { value: 2 }],
      maximums: [maximumLimits.max],
      maximumOf: { stated: 7, inUse: 3 },
    });
    expect(values["echo max_replicas"]).not.toHaveProperty("isMinimum");
    const scaledObject = {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "hello", annotations: { "autoscaling.keda.sh/paused": "true" } },
      spec: { scaleTargetRef: { name: "hello" }, minReplicaCount: 1, maxReplicaCount: 8 },
    };
    const paused = list({ fn: { ...fn, replicasOwner: "keda" }, children: [deployment, scaledObject] });
    expect(paused["echo max_replicas"]).toMatchObject({
      current: 8,
      path: "ScaledObject/hello spec.maxReplicaCount",
      conflict: expect.stringContaining("paused"),
    });
    expect(
      list({ fn: rendered({ replicasOwner: "autoscaler" }), children: [deployment, autoscaler] }),
    ).not.toHaveProperty("echo max_replicas");
  });

  test("are the minimum of an autoscaler of the class, within its maximum; CPU has one loop only", () => {
    const values = list({ fn: rendered({ replicasOwner: "autoscaler" }), children: [deployment, autoscaler] });
    expect(values["echo replicas"]).toMatchObject({
      current: 2,
      path: "HorizontalPodAutoscaler/hello spec.minReplicas",
      maximums: [{ value: 9 }, { value: 7, source: "maxReplicas of HorizontalPodAutoscaler hello" }],
    });
    expect(values["echo replicas"]?.scaledWorkload).toBeUndefined();
    expect(values["echo cpu"]).toMatchObject({ isAllowed: false, whyNotAllowed: expect.stringContaining("two loops") });
  });

  test("have the target of an autoscaler unless the user states it", () => {
    const metrics = [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: 85 } } }];
    const children = [deployment, { ...autoscaler, spec: { ...autoscaler.spec, metrics } }];
    const utilizationOf = (spec: object) =>
      list({ fn: rendered({ replicasOwner: "autoscaler" }), children, spec })["echo replicas"]?.utilization;
    expect(utilizationOf({})).toEqual({ target: 0.85, path: "HorizontalPodAutoscaler/hello spec.metrics" });
    expect(utilizationOf({ nfr_requirements: { cpu_utilization_target: 0.85 } })).toBeUndefined();
  });

  describe("of a workload that KEDA scales", () => {
    const scaledObject = (spec: object = {}, annotations: Record<string, string> = {}) => ({
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "hello", annotations },
      spec: { scaleTargetRef: { name: "hello" }, minReplicaCount: 2, triggers: [{ type: "kafka" }], ...spec },
    });
    const listed = (object: object) =>
      list({ fn: rendered({ replicasOwner: "keda" }), children: [deployment, object] });

    test("are the minimum of its ScaledObject, within the limits of the class", () => {
      expect(listed(scaledObject())).toMatchObject({
        "echo replicas": {
          current: 2,
          isAllowed: true,
          path: "ScaledObject/hello spec.minReplicaCount",
          minimums: [{ value: 1 }],
          maximums: [{ value: 9 }],
        },
        "echo cpu": { isAllowed: true },
        "echo memory": { isAllowed: true },
      });
      expect(listed(scaledObject())["echo replicas"]?.conflict).toBeUndefined();
    });

    test("are zero without a minimum", () => {
      expect(listed(scaledObject({ minReplicaCount: undefined }))["echo replicas"]?.current).toBe(0);
    });

    test.each(["cpu", "memory"] as const)("exclude %s, on which it scales", (dimension) => {
      const values = listed(scaledObject({ triggers: [{ type: "cron" }, { type: dimension }] }));
      const other = dimension === "cpu" ? "memory" : "cpu";
      expect(values[`echo ${dimension}`]).toMatchObject({
        isAllowed: false,
        whyNotAllowed: expect.stringMatching(/ScaledObject hello scales on .*two loops/u),
      });
      expect(values[`echo ${other}`]?.isAllowed).toBe(true);
    });

    test.each(["another kind", "another name", "missing"])("exclude replicas when the target is %s", (why) => {
      const target = why === "another kind" ? { kind: "StatefulSet", name: "hello" } : { name: "other" };
      const children = why === "missing" ? [] : [scaledObject({ scaleTargetRef: target })];
      const values = list({ fn: rendered({ replicasOwner: "keda" }), children: [deployment, ...children] });
      expect(values["echo replicas"]).toBeUndefined();
    });

    test.each([
      { word: "paused", value: "true", isPaused: true },
      { word: "paused", value: "yes", isPaused: true },
      { word: "paused", value: "False", isPaused: false },
      { word: "paused", value: "0", isPaused: false },
      { word: "paused-replicas", value: "0", isPaused: true },
      { word: "paused-scale-in", value: "1", isPaused: true },
      { word: "paused-scale-out", value: "true", isPaused: true },
      { word: "paused-scale-out", value: "f", isPaused: false },
    ])("are held by annotation $word: $value ($isPaused)", ({ word, value, isPaused }) => {
      const { conflict } = listed(scaledObject({}, { [`autoscaling.keda.sh/${word}`]: value }))["echo replicas"] ?? {};
      expect(conflict).toBe(
        isPaused ? `ScaledObject hello is paused by annotation autoscaling.keda.sh/${word}` : undefined,
      );
    });
  });

  test("are the minimum scale of a Knative Service", () => {
    const workload = { apiVersion: "serving.knative.dev/v1", kind: "Service", namespace: "ns", name: "hello" };
    const service = {
      ...workload,
      metadata: { name: "hello" },
      spec: { template: { metadata: { annotations: { "autoscaling.knative.dev/minScale": "4" } } } },
    };
    const values = list({ fn: rendered({ replicasOwner: "knative", workload }), children: [service] });
    expect(values["echo replicas"]).toMatchObject({
      current: 4,
      path: "Service/hello autoscaling.knative.dev/min-scale",
    });
    const enforced = {
      ...service,
      metadata: { name: "hello", annotations: { "oaas.io/enforced-min-scale": "6" } },
      status: { latestReadyRevisionName: "hello-00001" },
    };
    const later = list({ fn: rendered({ replicasOwner: "knative", workload }), children: [enforced] });
    expect(later["echo replicas"]).toMatchObject({
      current: 6,
      path: "Revision/hello-00001 autoscaling.knative.dev/min-scale",
    });
  });

  test.each<{ why: string; given: Parameters<typeof list>[0]; value: string; text: RegExp }>([
    {
      why: "the template fixes them",
      given: { fn: { ...WORKLOAD, replicasOwner: "template" } },
      value: "echo replicas",
      text: /the template fixes/u,
    },
    {
      why: "the class states the request",
      given: { spec: { resource_allocation: { memory_request: "1Gi" } } },
      value: "echo memory",
      text: /states memory_request 1Gi/u,
    },
    {
      why: "pods must not restart",
      given: { enforcement: { ...ENFORCE, mayRestart: false } },
      value: "echo cpu",
      text: /would restart/u,
    },
    {
      why: "the template states the resources",
      given: { fn: { ...WORKLOAD, replicasOwner: "template" }, canResize: true },
      value: "echo cpu",
      text: /the template states the resources/u,
    },
    { why: "state stores do not reshard", given: { hasOdgm: true }, value: "odgm replicas", text: /does not reshard/u },
  ])("are not allowed when $why", ({ given, value, text }) => {
    expect(list(given)[value]).toMatchObject({ isAllowed: false, whyNotAllowed: expect.stringMatching(text) });
  });

  test("are limited by the memory limit of the class", () => {
    expect(list({ spec: { resource_allocation: { memory_limit: "256Mi" } } })["echo memory"]?.maximums).toEqual([
      { value: 256 * 1024 * 1024, source: "memory_limit" },
    ]);
  });

  describe("of a cluster that resizes pods in place", () => {
    const larger = { requests: { cpu: "400m", memory: "128Mi" }, limits: { cpu: "800m", memory: "256Mi" } };
    const fn = rendered({ resources: { template: REQUESTS, running: larger } });
    const enforcement = { ...ENFORCE, mayRestart: false };

    test("are the requests of running pods, and need no restart", () => {
      expect(list({ fn, enforcement, canResize: true })["echo cpu"]).toMatchObject({
        current: 400,
        isAllowed: true,
        isResize: true,
        path: "pods of Deployment/hello resources.requests.cpu, in place",
      });
    });

    test("are limited to what a node provides after it refused", () => {
      const pods = [podOf({ infeasible: "Node didn't have enough capacity: cpu" })];
      expect(list({ fn, enforcement, canResize: true, pods })["echo cpu"]?.maximums).toEqual([
        { value: 250, source: "the node: Pod hello-1 cannot be resized: Node didn't have enough capacity: cpu" },
      ]);
    });

    test("leave CPU to an autoscaler", () => {
      const children = [deployment, autoscaler];
      const values = list({ fn: { ...fn, replicasOwner: "autoscaler" }, children, enforcement, canResize: true });
      expect(values["echo cpu"]).toMatchObject({ isAllowed: false });
      expect(values["echo memory"]).toMatchObject({ isAllowed: true, isResize: true });
    });
  });

  test("are blocked while a new pod template rolls out", () => {
    const rolling = { ...deployment, status: { observedGeneration: 2, updatedReplicas: 1 } };
    expect(list({ children: [rolling] })["echo replicas"]?.blockers).toEqual(["rolling-out"]);
  });
});

describe("resizes of pods", () => {
  const larger = { requests: { cpu: "0.4", memory: "128Mi" }, limits: { cpu: "800m", memory: "256Mi" } };
  const fn = (running = larger): RenderedFunction => ({
    ...WORKLOAD,
    replicasOwner: "template",
    resources: { template: REQUESTS, running },
  });
  const manager = "oprc-crm-enforcer";

  test("set the resources of the function container of that very pod", () => {
    expect(planPodResizes([fn()], [podOf()])).toEqual([
      {
        functionKey: "echo",
        pod: podOf(),
        manifest: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "hello-1", namespace: "ns", uid: "uid-1" },
          spec: { containers: [{ name: "function", resources: larger }] },
        },
      },
    ]);
  });

  test.each<{ why: string; functions: readonly RenderedFunction[]; pod: Pod }>([
    {
      why: "has them in another notation",
      functions: [fn()],
      pod: podOf({ resources: { ...larger, requests: { cpu: "400m", memory: 134217728 } } }),
    },
    {
      why: "belongs to a function without enforced values",
      functions: [fn(REQUESTS)],
      pod: podOf({ resources: larger }),
    },
    { why: "belongs to another function", functions: [{ ...fn(), functionKey: "other" }], pod: podOf() },
    {
      why: "has resources that its template states",
      functions: [{ ...WORKLOAD, replicasOwner: "template" }],
      pod: podOf(),
    },
    { why: "is being deleted", functions: [fn()], pod: podOf({ deleted: true }) },
    { why: "has ended", functions: [fn()], pod: podOf({ phase: "Succeeded" }) },
  ])("leave a pod alone that $why", ({ functions, pod }) => {
    expect(planPodResizes(functions, [pod])).toEqual([]);
  });

  test("return a pod that we resized to its template", () => {
    expect(planPodResizes([fn(REQUESTS)], [podOf({ resources: larger, resizedBy: manager })])).toHaveLength(1);
    expect(planPodResizes([fn(REQUESTS)], [podOf({ resources: larger, resizedBy: "vpa-updater" })])).toEqual([]);
  });

  test("are idempotent", () => {
    const [resize] = planPodResizes([fn()], [podOf()]);
    const resources = resize?.manifest.spec?.containers?.[0]?.resources ?? {};
    expect(planPodResizes([fn()], [podOf({ resources, resizedBy: manager })])).toEqual([]);
  });
});
