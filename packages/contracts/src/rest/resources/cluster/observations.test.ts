import { ClusterStatus, DeploymentCondition, RuntimePhase, type ClusterName, type Topology } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { pascalCase, screamingSnakeCase, snakeCase } from "../../reading/spelling.ts";
import { readBy } from "../../reading/violations.ts";
import { conditionInput } from "../deployment/health.ts";
import { classRuntimeInput, classRuntimeToWire } from "./class-runtime.ts";
import { clusterHealthInput, clusterHealthToWire, clusterRegistrationInput } from "./cluster.ts";
import { topologyInput, topologyToWire, topologyView } from "./topology.ts";

test.each([
  ["read-your-write", "READ_YOUR_WRITE", "ReadYourWrite", "read_your_write"],
  ["down", "DOWN", "Down", "down"],
])("%s is spelled %s, %s and %s", (word, ...spellings) => {
  expect([screamingSnakeCase(word), pascalCase(word), snakeCase(word)]).toEqual(spellings);
});

test.each(Object.values(DeploymentCondition))("reads condition %s in both cases", (condition) => {
  for (const spelling of [screamingSnakeCase(condition), pascalCase(condition)]) {
    expect(readBy(conditionInput, spelling)).toEqual({ ok: true, value: condition });
  }
  expect(readBy(conditionInput, condition).ok).toBe(false);
});

const runtime = {
  id: "u",
  deployment_unit_id: "u",
  package_name: "p",
  class_key: "p.C",
  target_environment: "ns",
  created_at: "t",
  updated_at: "t",
};

test("writes degraded as health, and as a condition that the first clients know", () => {
  const status = { condition: "degraded", phase: "resource-provisioning", lastUpdated: "t", serving: true } as const;
  const read = readBy(classRuntimeInput, runtime);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const written = classRuntimeToWire({ ...read.value, status });
  expect(written.status).toMatchObject({ health: "Degraded", condition: "Deploying", serving: true });
  const back = readBy(classRuntimeInput, written);
  expect(back.ok && back.value.status?.condition).toBe("degraded");
});

describe("the phase of a class runtime", () => {
  test.each([
    ["RESOURCE_PROVISIONING", RuntimePhase.resourceProvisioning],
    ["RUNNING", RuntimePhase.running],
    ["FAILED", RuntimePhase.failed],
    ["UNKNOWN", RuntimePhase.unknown],
    ["TEMPLATE_SELECTION", RuntimePhase.resourceProvisioning],
    ["ENFORCEMENT", RuntimePhase.running],
    ["COMPLETED", RuntimePhase.running],
  ])("%s is read as %s", (phase, meaning) => {
    const read = readBy(classRuntimeInput, { ...runtime, status: { condition: "RUNNING", phase, last_updated: "t" } });
    expect(read.ok && read.value.status?.phase).toBe(meaning);
  });
});

test("writes at least one partition", () => {
  const read = readBy(classRuntimeInput, { ...runtime, partition_count: 0 });
  expect(read.ok && classRuntimeToWire(read.value).partition_count).toBe(1);
});

test("returns recommendations and compliance with their numbers", () => {
  const measured = {
    ...runtime,
    status: {
      condition: "Running",
      phase: "RUNNING",
      message: null,
      last_updated: "t",
      nfr_recommendations: [
        {
          component: "f",
          dimension: "replicas",
          target: 3,
          lower_bound: 2,
          upper_bound: 5,
          evidence: { window: "10m", query: "q", values: { requests_per_second: 240.5 }, floor: "min_scale" },
          valid_until: "t",
        },
      ],
      last_applied_at: "t",
    },
    cluster_name: null,
    nfr_compliance: {
      overall_status: "Violated",
      throughput_status: null,
      latency_status: "Violated",
      availability_status: null,
      last_checked: "t",
      measurements: [
        {
          requirement: "max_latency_ms",
          component: "f",
          status: "violated",
          required: 100,
          observed: 150.5,
          unit: "ms",
          window: "10m",
          since: "t",
          error_budget_left: -0.5,
          burn_rates: [{ long_window: "1h", short_window: "5m", long_rate: 15 }],
        },
      ],
    },
    resource_refs: [],
    partition_count: 1,
  };
  const read = readBy(classRuntimeInput, measured);
  const status = { ...measured.status, health: "Running" };
  expect(read.ok && classRuntimeToWire(read.value)).toEqual({ ...measured, status });
});

describe("health", () => {
  test.each([
    ["Healthy", ClusterStatus.healthy],
    ["healthy", ClusterStatus.healthy],
    ["SERVING", ClusterStatus.unknown],
  ])("status %s is read as %s", (status, meaning) => {
    const read = readBy(clusterHealthInput, { cluster_name: "a", status, last_seen: null });
    expect(read.ok && read.value.status).toBe(meaning);
  });

  test("has null for unknown values", () => {
    expect(clusterHealthToWire({ cluster: "a" as ClusterName, status: "unknown" })).toEqual({
      cluster_name: "a",
      status: "Unknown",
      crm_version: null,
      last_seen: null,
      node_count: null,
      ready_nodes: null,
      availability: null,
    });
  });
});

test("accepts http and https URLs and limits in range", () => {
  expect(readBy(clusterRegistrationInput, { name: "a", url: "http://crm:8088" })).toMatchObject({
    ok: true,
    value: { name: "a", retry_attempts: 3, labels: {} },
  });
  const read = readBy(clusterRegistrationInput, { name: "a", url: "crm:8088", timeout: -1 });
  expect(read.ok ? [] : read.error.map((violation) => violation.path)).toEqual(["$.url", "$.timeout"]);
});

test("a topology round-trips, with its timestamp in the protobuf form", () => {
  const topology: Topology = {
    nodes: [
      { id: "class::C", nodeType: "class", status: "healthy", metadata: { package: "p" }, deployedClasses: ["C"] },
    ],
    edges: [{ from: "package::p", to: "class::C", metadata: {} }],
    timestamp: "2026-01-31T12:00:00.250Z",
  };
  const wire = topologyToWire(topology);
  expect(wire.timestamp).toEqual({ seconds: 1_769_860_800, nanos: 250_000_000 });
  expect(topologyView.safeParse(wire).error).toBeUndefined();
  expect(readBy(topologyInput, wire)).toEqual({ ok: true, value: topology });
});
