import type { ClusterName, NfrMeasurement, StatedRequirement } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { requirementStatus, type MeasuringCluster } from "./requirement-status.ts";

const LATENCY: StatedRequirement = {
  requirement: "max_latency_ms",
  component: "",
  text: "latency 100 ms",
  use: "recorded",
  useText: "not used for sizing",
};

const measured = (component: string, more: Partial<NfrMeasurement> = {}): NfrMeasurement => ({
  requirement: "max_latency_ms",
  component,
  status: "met",
  required: 100,
  observed: 12,
  unit: "ms",
  window: "10m",
  burnRates: [],
  ...more,
});

const cluster = (name: string, measurements?: readonly NfrMeasurement[], more: object = {}): MeasuringCluster => ({
  cluster: name as ClusterName,
  reachable: true,
  ...(measurements && { nfrCompliance: { overall: "Compliant", lastChecked: "t1", measurements } }),
  ...more,
});

describe("a requirement", () => {
  it("has the value, window and time of each measurement", () => {
    const status = requirementStatus(LATENCY, [cluster("edge", [measured("Cart.add")])]);
    expect(status).toMatchObject({ state: "measured", summary: "latency 100 ms: recorded, measured: met" });
    expect(status.measurements).toEqual([
      {
        cluster: "edge",
        component: "Cart.add",
        status: "met",
        observed: 12,
        unit: "ms",
        window: "10m",
        checkedAt: "t1",
      },
    ]);
  });

  it("counts violations", () => {
    const both = [measured("Cart.add"), measured("Cart.drop", { status: "violated" })];
    expect(requirementStatus(LATENCY, [cluster("edge", both)]).summary).toMatch(/measured: violated in 1 of 2$/);
  });

  it.each([
    { why: "the cluster has no Prometheus", at: cluster("edge"), reason: /only with Prometheus/ },
    {
      why: "the cluster says why",
      at: cluster("edge", undefined, { notObserved: "Prometheus is unavailable" }),
      reason: /^Prometheus is unavailable$/,
    },
    {
      why: "there are too few requests",
      at: cluster("edge", [measured("Cart.add", { status: "unknown", reason: "too few requests: 3 of 30" })]),
      reason: /^too few requests: 3 of 30$/,
    },
    {
      why: "the cluster is unreachable, whatever it reported before",
      at: cluster("edge", [measured("Cart.add")], { reachable: false }),
      reason: /unreachable/,
    },
    { why: "only others are measured", at: cluster("edge", []), reason: /does not measure it yet/ },
  ])("is not measured when $why", ({ at, reason }) => {
    const { state, measurements, summary } = requirementStatus(LATENCY, [at]);
    expect(state).toBe("not_measured");
    expect(measurements).toEqual([expect.objectContaining({ reason: expect.stringMatching(reason) })]);
    expect(measurements[0]).not.toHaveProperty("observed");
    expect(summary).toMatch(/^latency 100 ms: recorded, not measured: .* \(edge\)$/);
  });

  it("is measured in part when one cluster measures it", () => {
    const { state, summary } = requirementStatus(LATENCY, [cluster("cloud", [measured("Cart.add")]), cluster("edge")]);
    expect(state).toBe("partly_measured");
    expect(summary).toMatch(/measured in part: met; not measured: .*\(edge\)$/);
  });

  it("of a function ignores other functions", () => {
    const own = { ...LATENCY, component: "Cart.drop" };
    expect(requirementStatus(own, [cluster("edge", [measured("Cart.add")])]).state).toBe("not_measured");
  });

  it("without a measurement method says so", () => {
    const cpu = { ...LATENCY, requirement: "cpu_utilization_target", text: "CPU utilization 0.7" };
    expect(requirementStatus(cpu, [cluster("edge", [])]).summary).toMatch(/no measurement exists for it/);
  });
});
