import { classRuntime, type ClassRuntime, type ClassRuntimeInput } from "@oaas/contracts/crd";
import { DeploymentCondition, DeploymentPhase, LifecyclePhase, StatusCode } from "@oaas/contracts/grpc";
import { describe, expect, test } from "vitest";
import { classRuntimeToStatusReply, classRuntimeToSummary, isInState, summaryText } from "./class-runtime-to-wire.ts";

function objectOf(status?: ClassRuntimeInput["status"], metadata: object = {}): ClassRuntime {
  return classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: {
      name: "my-app-0123456789ab",
      namespace: "shop",
      uid: "u-1",
      generation: 2,
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations: { "oaas.io/correlation-id": "c-1" },
      labels: { "oaas.io/deployment-id": "My.App" },
      ...metadata,
    },
    spec: {
      package_class_key: "shop.eu.Order",
      functions: [{ function_key: "f", provision_config: { container_image: "registry.local/f:1" } }],
      origin: { deployment_id: "My.App", target_env: "edge-1", revision: 7, digest: "d", managed_by: "pm-1" },
    },
    ...(status === undefined ? {} : { status }),
  });
}

describe("condition and phase for older peers", () => {
  const condition = (type: string, observedGeneration: number) => ({
    type,
    status: "True" as const,
    observedGeneration,
  });
  test.each([
    { case: "not observed yet", object: objectOf(), want: ["PENDING", "RESOURCE_PROVISIONING", "PENDING"] },
    {
      case: "applying",
      object: objectOf({ phase: "applying" }),
      want: ["DEPLOYING", "RESOURCE_PROVISIONING", "APPLYING"],
    },
    {
      case: "waiting",
      object: objectOf({ phase: "progressing" }),
      want: ["DEPLOYING", "RESOURCE_PROVISIONING", "PROGRESSING"],
    },
    {
      case: "serving",
      object: objectOf({ phase: "available", observedGeneration: 2 }),
      want: ["RUNNING", "PHASE_RUNNING", "AVAILABLE"],
    },
    {
      case: "serving an earlier spec is not serving this one",
      object: objectOf({ phase: "available", observedGeneration: 1 }),
      want: ["DEPLOYING", "RESOURCE_PROVISIONING", "PROGRESSING"],
    },
    {
      case: "broken",
      object: objectOf({ phase: "degraded", observedGeneration: 2 }),
      want: ["DOWN", "FAILED", "DEGRADED"],
    },
    {
      case: "a conflict of the new spec, with its generation not observed",
      object: objectOf({ phase: "degraded", observedGeneration: 1, conditions: [condition("Degraded", 2)] }),
      want: ["DOWN", "FAILED", "DEGRADED"],
    },
    {
      case: "the spec was just fixed",
      object: objectOf({ phase: "degraded", observedGeneration: 1, conditions: [condition("Degraded", 1)] }),
      want: ["DEPLOYING", "RESOURCE_PROVISIONING", "PROGRESSING"],
    },
    {
      case: "a deletion is reported at once",
      object: objectOf({ phase: "available", observedGeneration: 2 }, { deletionTimestamp: "2026-01-01T00:00:01Z" }),
      want: ["DELETED", "RESOURCE_PROVISIONING", "DELETING"],
    },
    {
      case: "an object of the Rust manager",
      object: objectOf({ phase: "available", observed_generation: 2 }),
      want: ["RUNNING", "PHASE_RUNNING", "AVAILABLE"],
    },
  ])("$case", ({ object, want: [cond, phase, lifecycle] }) => {
    const { status } = classRuntimeToSummary(object);
    expect({
      condition: status?.condition,
      phase: status?.phase,
      lifecyclePhase: status?.lifecyclePhase,
    }).toEqual({
      condition: DeploymentCondition[cond as keyof typeof DeploymentCondition],
      phase: DeploymentPhase[phase as keyof typeof DeploymentPhase],
      lifecyclePhase: LifecyclePhase[lifecycle as keyof typeof LifecyclePhase],
    });
  });

  test.each([
    { filter: "Available", is: true },
    { filter: "RUNNING", is: true },
    { filter: "running", is: true },
    { filter: "down", is: false },
    { filter: "", is: false },
  ])("the filter $filter: $is", ({ filter, is }) => {
    expect(isInState(objectOf({ phase: "available", observedGeneration: 2 }), filter)).toBe(is);
  });
});

describe("summary", () => {
  const full = objectOf({
    phase: "degraded",
    reason: "ImagePull",
    message: "Function f: no image.",
    observedGeneration: 2,
    last_updated: "2026-01-01T00:01:00Z",
    template: { name: "edge", basis: "score" },
    conditions: [
      {
        type: "Degraded",
        status: "True",
        reason: "ImagePull",
        message: "m",
        lastTransitionTime: "2026-01-01T00:01:00Z",
      },
    ],
    resource_refs: [{ apiVersion: "apps/v1", kind: "Deployment", name: "order", uid: "u-2" }],
    functions: [
      {
        function_key: "f",
        service: "order",
        port: 80,
        predicted_url: "http://order",
        template: "edge",
        ready: false,
        desired_replicas: 2,
      },
    ],
    odgm_cluster_status: {
      ready: true,
      service: "order-odgm-svc:80",
      collections_status: [{ name: "c", partition_count: 4, total_objects: 12 }],
    },
    nfr_compliance: {
      overall_status: "Violated",
      measurements: [
        {
          requirement: "max_latency_ms",
          required: 10,
          observed: 20,
          status: "violated",
          window: "10m",
          since: "2026-01-01T00:00:30Z",
          error_budget_left: -0.5,
          burn_rates: [{ long: "1h", short: "5m", long_rate: 15 }],
        },
      ],
    },
    nfr_recommendations: [
      {
        component: "f",
        dimension: "replicas",
        target: 3,
        lower_bound: 2,
        upper_bound: 5,
        evidence: { window: "10m", query: "rate(x[1m])", values: { requests_per_second: 240 }, floor: "min_scale" },
        valid_until: "2026-01-01T00:11:00Z",
      },
    ],
    last_applied_recommendations: [
      {
        component: "f",
        dimension: "replicas",
        target: 2,
        current: 1,
        recommended: 3,
        action: "apply",
        lane: "emergency",
        clamped_by: { value: 2, source: "max_scale" },
        digest: "sha256:1",
      },
      { component: "function", dimension: "replicas", target: 3, basis: "enforcer" },
    ],
  });

  test("includes all known fields", () => {
    expect(classRuntimeToSummary(full)).toMatchObject({
      id: "My.App",
      deploymentUnitId: "My.App",
      packageName: "shop.eu",
      classKey: "shop.eu.Order",
      targetEnvironment: "shop",
      clusterName: "shop",
      resourceRefs: [{ kind: "Deployment", name: "order", namespace: "shop", uid: "u-2" }],
      createdAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-01T00:01:00Z",
      partitionCount: 4,
      namespace: "shop",
      name: "my-app-0123456789ab",
      generation: 2n,
      revision: 7n,
      digest: "d",
      managedBy: "pm-1",
      correlationId: "c-1",
      nfrCompliance: {
        overallStatus: "Violated",
        measurements: [
          {
            observed: 20,
            status: "violated",
            window: "10m",
            since: "2026-01-01T00:00:30Z",
            errorBudgetLeft: -0.5,
            burnRates: [{ longWindow: "1h", shortWindow: "5m", longRate: 15 }],
          },
        ],
      },
      status: {
        message: "Degraded (ImagePull): Function f: no image.",
        lastUpdated: "2026-01-01T00:01:00Z",
        observedGeneration: 2n,
        reason: "ImagePull",
        template: "edge",
        conditions: [{ type: "Degraded", status: "True", reason: "ImagePull" }],
        functions: [{ functionKey: "f", port: 80, ready: false, desiredReplicas: 2 }],
        odgm: { ready: true, collections: [{ objectCount: 12n }] },
        nfrRecommendations: [
          {
            target: 3,
            lowerBound: 2,
            upperBound: 5,
            evidence: { window: "10m", query: "rate(x[1m])", values: { requests_per_second: 240 }, floor: "min_scale" },
            validUntil: "2026-01-01T00:11:00Z",
          },
        ],
        lastAppliedRecommendations: [
          {
            target: 2,
            current: 1,
            applied: { recommended: 3, lane: "emergency", clampedBy: "max_scale 2", digest: "sha256:1" },
          },
          { target: 3, basis: "enforcer" },
        ],
      },
    });
  });

  test("returns the complete unit in GetDeploymentStatus", () => {
    expect(classRuntimeToStatusReply(full)).toMatchObject({
      status: StatusCode.OK,
      message: "Degraded (ImagePull): Function f: no image.",
      deployment: {
        id: "My.App",
        packageName: "shop.eu",
        classKey: "Order",
        targetEnv: "edge-1",
        functions: [{ functionKey: "f", provisionConfig: { containerImage: "registry.local/f:1" } }],
      },
      statusResourceRefs: [{ uid: "u-2" }],
      classRuntime: { id: "My.App" },
    });
  });

  test("handles an object without status", () => {
    expect(summaryText(objectOf())).toBe("Pending");
    expect(classRuntimeToSummary(objectOf())).toMatchObject({ partitionCount: 1, updatedAt: "2026-01-01T00:00:00Z" });
  });
});
