import { classRuntime, type ClassRuntimeInput } from "@oaas/contracts/crd";
import { DeploymentCondition } from "@oaas/contracts/grpc";
import { describe, expect, test } from "vitest";
import type { ClassChange, StoredClass } from "../classes/ports.ts";
import { isReportable, metricsReport, statusReport } from "./reports.ts";

const NOW = Date.UTC(2026, 10, 15);
const origin = { cluster: "edge", epoch: "e", sequence: 7n };

function stored(status: ClassRuntimeInput["status"], metadata: object = {}): StoredClass {
  return classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "order", namespace: "shop", uid: "u", resourceVersion: "1", generation: 1, ...metadata },
    spec: {
      package_class_key: "shop.Order",
      odgm_config: { collections: ["c"] },
      origin: { deployment_id: "Order.1" },
    },
    ...(status ? { status } : {}),
  }) as StoredClass;
}

const RUNNING = {
  phase: "available",
  condition: "Running",
  observedGeneration: 1,
  last_updated: "2026-11-14T12:00:00.250Z",
} as never;

describe("isReportable", () => {
  const before = stored(RUNNING);
  const rows: readonly { case: string; change: ClassChange; expected: boolean }[] = [
    { case: "a class with a status is added", change: { type: "added", object: before }, expected: true },
    {
      case: "a class without a status is added",
      change: { type: "added", object: stored(undefined) },
      expected: false,
    },
    { case: "a class is deleted", change: { type: "deleted", object: before }, expected: true },
    {
      case: "only a label changed",
      change: { type: "updated", object: stored(RUNNING, { labels: { a: "b" } }), previous: before },
      expected: false,
    },
    {
      case: "the spec changed",
      change: { type: "updated", object: stored(RUNNING, { generation: 2 }), previous: before },
      expected: true,
    },
    {
      case: "the deletion is requested",
      change: {
        type: "updated",
        object: stored(RUNNING, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
        previous: before,
      },
      expected: true,
    },
    {
      case: "the status changed",
      change: { type: "updated", object: stored({ phase: "degraded" }), previous: before },
      expected: true,
    },
  ];
  test.each(rows)("is $expected when $case", ({ change, expected }) => expect(isReportable(change)).toBe(expected));
});

describe("status report", () => {
  test("contains condition, message, time of change and summary", () => {
    const report = statusReport({ about: "status", object: stored(RUNNING), isDeleted: false }, origin, NOW);
    expect(report).toMatchObject({
      deploymentId: "Order.1",
      origin,
      status: {
        deploymentId: "Order.1",
        status: "RUNNING",
        message: "Available",
        updatedAt: { seconds: BigInt(Date.UTC(2026, 10, 14, 12) / 1000), nanos: 250_000_000 },
      },
    });
    expect(report.status?.classRuntime).toMatchObject({ namespace: "shop", name: "order", id: "Order.1" });
  });

  test("reports a deleted class as DELETED", () => {
    const report = statusReport({ about: "status", object: stored(RUNNING), isDeleted: true }, origin, NOW);
    expect(report.status).toMatchObject({ status: "DELETED", updatedAt: { seconds: BigInt(NOW / 1000) } });
    expect(report.status?.classRuntime?.status?.condition).toBe(DeploymentCondition.DELETED);
  });
});

describe("metrics report", () => {
  const reportOf = (status: ClassRuntimeInput["status"]) =>
    metricsReport({ about: "metrics", object: stored(status), isDeleted: false }, origin, NOW);

  test("contains the ready replicas of functions and of the state store", () => {
    const report = reportOf({
      functions: [{ function_key: "f", service: "f", predicted_url: "", template: "dev", ready_replicas: 2 }] as never,
      odgm_cluster_status: { ready_replicas: 1 },
    });
    expect(report?.samples).toMatchObject([
      { component: "f", metric: "replicas", value: 2, observedAt: { seconds: BigInt(NOW / 1000) } },
      { component: "odgm", metric: "replicas", value: 1 },
    ]);
  });

  test("contains the measurements behind recommendations and compliance, each metric once", () => {
    const recommendation = (dimension: string, values: Record<string, number>, observed_at?: string) => ({
      component: "f",
      dimension,
      target: 1,
      evidence: { window: "10m", query: "q", values },
      ...(observed_at === undefined ? {} : { observed_at }),
    });
    const at = "2026-11-14T12:00:00.000Z";
    const report = reportOf({
      nfr_recommendations: [
        recommendation("replicas", { requests_per_second: 240, latency_p99_ms: 80, cpu_millicores: 300 }, at),
        recommendation("cpu", { p90_millicores: 410 }, at),
        recommendation("memory", { p90_bytes: 1000, unknown_value: 7 }, at),
        recommendation("max_replicas", { p90_bytes: 5 }),
      ] as never,
      nfr_compliance: {
        overall_status: "Compliant",
        last_checked: at,
        measurements: [
          { requirement: "availability", component: "f", required: 0.9, observed: 0.99, window: "1h" },
          { requirement: "max_latency_ms", component: "f", required: 9, observed: 8 },
        ],
      },
    });
    const seconds = BigInt(Date.parse(at) / 1000);
    expect(report?.samples).toEqual(
      (
        [
          ["rps", 240, 600],
          ["p99_latency_ms", 80, 600],
          ["cpu_mcores", 300, 600],
          ["memory_working_set_bytes", 1000, 600],
          ["availability", 0.99, 3600],
        ] as const
      ).map(([metric, value, windowSeconds]) => ({
        component: "f",
        metric,
        value,
        observedAt: { seconds, nanos: 0 },
        windowSeconds,
      })),
    );
  });

  test.each([[undefined], [{ phase: "pending" } as const]])("is undefined without samples", (status) => {
    expect(reportOf(status)).toBeUndefined();
  });
});
