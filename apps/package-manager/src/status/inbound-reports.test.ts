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
import { InboundReports } from "./inbound-reports.ts";
import { RuntimeView } from "./runtime-view.ts";

const edge = "edge" as ClusterName;

function createReports() {
  const view = new RuntimeView(virtualAmbient(1).clock);
  const reports = new InboundReports({
    view,
    isCluster: (name) => name === edge,
    readSummary: reportFromWire,
    maxUnits: 2,
  });
  const status = (
    id: string,
    sequence: number,
    rest: { condition?: DeploymentCondition; cluster?: string; epoch?: string } = {},
  ) =>
    reports.status(
      create(ReportStatusRequestSchema, {
        deploymentId: id,
        status: {
          deploymentId: id,
          classRuntime: {
            id,
            deploymentUnitId: id,
            status: { condition: rest.condition ?? DeploymentCondition.RUNNING, lastUpdated: "" },
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

  it("counts newer samples only, for a bounded number of units", () => {
    const { metrics } = createReports();
    expect([metrics("a", 10, 5), metrics("a", 9, 5), metrics("a", 8, 4), metrics("a", 20, 6)]).toEqual([1, 0, 0, 1]);
    expect(metrics("a", Number.NaN, 9)).toBe(0);
    metrics("b", 1, 1);
    metrics("c", 1, 1);
    expect(metrics("a", 1, 1), "the oldest unit was evicted").toBe(1);
  });
});
