import { create } from "@bufbuild/protobuf";
import {
  DeploymentCondition,
  ReportRuntimeMetricsRequestSchema,
  ReportStatusRequestSchema,
} from "@oaas/contracts/grpc";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { reportFromWire } from "../adapters/crm/wire/report-from-wire.ts";
import { InboundReports, type InboundReportsOptions } from "./inbound-reports.ts";
import { RuntimeView } from "./runtime-view.ts";

const edge = "edge" as ClusterName;

function createReports(options: Partial<InboundReportsOptions> = {}) {
  const view = new RuntimeView(virtualAmbient(1).clock);
  const reports = new InboundReports({
    view,
    isCluster: (name) => name === edge,
    isUnit: (_cluster, unitId) => unitId !== "stranger",
    readSummary: reportFromWire,
    maxUnits: 2,
    ...options,
  });
  const status = (
    id: string,
    sequence: number,
    rest: { condition?: DeploymentCondition; cluster?: string; epoch?: string; message?: string } = {},
  ) =>
    reports.status(
      create(ReportStatusRequestSchema, {
        deploymentId: id,
        status: {
          deploymentId: id,
          classRuntime: {
            id,
            deploymentUnitId: id,
            status: {
              condition: rest.condition ?? DeploymentCondition.RUNNING,
              lastUpdated: "",
              message: rest.message ?? "",
            },
          },
        },
        origin: { cluster: rest.cluster ?? "edge", epoch: rest.epoch ?? "e1", sequence: BigInt(sequence) },
      }),
    );
  const metrics = (id: string, value: number, seconds: number) =>
    reports.metrics(
      create(ReportRuntimeMetricsRequestSchema, {
        deploymentId: id,
        samples: [{ component: "Cart.add", metric: "rps", value, observedAt: { seconds: BigInt(seconds) } }],
        origin: { cluster: "edge" },
      }),
    );
  return { view, reports, status, metrics };
}

describe("InboundReports", () => {
  it("applies reports to the view, except repeated and late ones", () => {
    const { view, status } = createReports();
    expect(status("a", 2)).toBe(true);
    expect(view.get(edge, "a" as UnitId)?.report.condition).toBe("running");
    expect(status("a", 2, { condition: DeploymentCondition.DOWN })).toBe(false);
    expect(status("a", 1, { condition: DeploymentCondition.DOWN })).toBe(false);
    expect(status("b", 1)).toBe(true);
    expect(status("a", 1, { condition: DeploymentCondition.DOWN, epoch: "e2" })).toBe(true);
    expect(view.get(edge, "a" as UnitId)?.report.condition).toBe("down");
  });

  it("rejects reports of unknown clusters and without a status", () => {
    const { reports, status } = createReports();
    expect(() => status("a", 1, { cluster: "elsewhere" })).toThrow(/cluster "elsewhere" was not found/);
    expect(() => status("a", 1, { cluster: "" })).toThrow(/\$\.origin\.cluster/);
    const empty = create(ReportStatusRequestSchema, { deploymentId: "a", origin: { cluster: "edge" } });
    expect(() => reports.status(empty)).toThrow(/\$\.status\.class_runtime/);
  });

  it("rejects reports of units that the package manager does not know, and keeps nothing of them", () => {
    const { view, status, metrics } = createReports();
    expect(() => status("stranger", 1)).toThrow(/unit "stranger" was not found/);
    expect(() => metrics("stranger", 1, 1)).toThrow(/unit "stranger" was not found/);
    expect(view.get(edge, "stranger" as UnitId)).toBeUndefined();
  });

  it("rejects reports that are too large, with the field", () => {
    const { reports, status } = createReports();
    const sample = { component: "Cart.add", metric: "rps", value: 1 };
    const metrics = (samples: readonly object[], origin: object = {}) =>
      reports.metrics(
        create(ReportRuntimeMetricsRequestSchema, {
          deploymentId: "a",
          samples: samples as (typeof sample)[],
          origin: { cluster: "edge", ...origin },
        }),
      );
    expect(() => metrics(Array.from({ length: 1025 }, () => sample))).toThrow(
      /\$\.samples: has 1025 items, above 1024/,
    );
    expect(() => metrics([sample], { epoch: "e".repeat(129) })).toThrow(/\$\.origin\.epoch/);
    expect(() => status("a", 1, { epoch: "e".repeat(129) })).toThrow(/\$\.origin\.epoch/);
    expect(() => status("a", 1, { message: "m".repeat(600_000) })).toThrow(/\$\.status\.class_runtime: has \d+ bytes/);
  });

  it("accepts only known metrics of components with a short name", () => {
    const { reports } = createReports();
    const accepted = (component: string, metric: string) =>
      reports.metrics(
        create(ReportRuntimeMetricsRequestSchema, {
          deploymentId: "a",
          samples: [{ component, metric, value: 1, observedAt: { seconds: 1n } }],
          origin: { cluster: "edge" },
        }),
      );
    expect(accepted("", "availability")).toBe(1);
    expect(accepted("odgm", "replicas")).toBe(1);
    expect(accepted("x".repeat(300), "rps")).toBe(0);
    expect(accepted("a", "r".repeat(300))).toBe(0);
    expect(accepted("a", "made_up")).toBe(0);
  });

  it("bounds the bytes of remembered metrics by forgetting the oldest units", () => {
    const { reports } = createReports({ maxUnits: 1_000, maxBytes: 10_000 });
    const send = (unit: number) =>
      reports.metrics(
        create(ReportRuntimeMetricsRequestSchema, {
          deploymentId: `u${unit}`,
          samples: Array.from({ length: 50 }, (_, index) => ({
            component: `${index}`.padStart(100, "x"),
            metric: "rps",
            value: 1,
            observedAt: { seconds: 1n },
          })),
          origin: { cluster: "edge" },
        }),
      );
    for (let unit = 0; unit < 100; unit++) {
      expect(send(unit)).toBe(50);
      expect(reports.rememberedBytes).toBeLessThanOrEqual(10_000);
    }
    expect(send(99), "the newest unit is remembered").toBe(0);
  });

  it("returns the newest sample of each metric, and nothing of other units", () => {
    const { reports, metrics } = createReports();
    metrics("a", 10, 5);
    metrics("a", 9, 4);
    metrics("a", 20, 6);
    const sample = { component: "Cart.add", metric: "rps", value: 20, windowSeconds: 0 };
    expect(reports.metricsOf(edge, "a" as UnitId)).toEqual([{ ...sample, observedAt: "1970-01-01T00:00:06.000Z" }]);
    expect(reports.metricsOf(edge, "b" as UnitId)).toEqual([]);
    expect(reports.metricsOf("other" as ClusterName, "a" as UnitId)).toEqual([]);
  });

  it("accepts no sample with a time that no date has", () => {
    const { reports, metrics } = createReports();
    expect(metrics("a", 1, 9e15)).toBe(0);
    expect(reports.metricsOf(edge, "a" as UnitId)).toEqual([]);
  });

  it("counts newer samples only, for a bounded number of units", () => {
    const { metrics } = createReports();
    expect([metrics("a", 10, 5), metrics("a", 9, 5), metrics("a", 8, 4), metrics("a", 20, 6)]).toEqual([1, 0, 0, 1]);
    expect(metrics("a", Number.NaN, 9)).toBe(0);
    metrics("b", 1, 1);
    metrics("c", 1, 1);
    expect(metrics("a", 1, 1), "the oldest unit was evicted").toBe(1);
  });
});
