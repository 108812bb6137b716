import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey, NfrRecommendation } from "@oaas/models";
import { expect, it } from "vitest";
import { unitIdOf } from "../planner/unit-id.ts";
import { recommendedReplicas } from "./runtime-query.ts";
import { RuntimeView } from "./runtime-view.ts";
import { reportOf } from "./testing/reports.ts";

const [key, edge] = ["cart" as DeploymentKey, "edge" as ClusterName];
const nowMs = Date.parse("2026-01-01T00:10:00Z");
const FRESH: NfrRecommendation = {
  component: "Cart.add",
  dimension: "replicas",
  target: 3.2,
  validUntil: "2026-01-01T00:11:00Z",
};

function viewOf(recommendations: readonly NfrRecommendation[]): RuntimeView {
  const view = new RuntimeView(virtualAmbient(1).clock);
  const status = {
    condition: "running",
    serving: true,
    upToDate: true,
    phase: "running",
    lastUpdated: "",
    recommendations,
  } as const;
  view.apply(edge, { type: "syncing" }, "live");
  view.apply(edge, { type: "changed", report: reportOf("edge", unitIdOf(key, edge), { runtime: { status } }) }, "live");
  return view;
}

it("returns recommendations only while the cluster is followed", () => {
  const view = viewOf([FRESH]);
  expect(recommendedReplicas(view, { key, cluster: edge, nowMs })).toBeUndefined();
  view.apply(edge, { type: "synced" }, "live");
  expect(recommendedReplicas(view, { key, cluster: edge, nowMs })).toEqual({
    "Cart.add": { replicas: 4, isOutdated: false, validUntil: FRESH.validUntil },
  });
  view.markLost(edge, "cut");
  expect(recommendedReplicas(view, { key, cluster: edge, nowMs })).toBeUndefined();
});

it.each<{ why: string; given: Partial<NfrRecommendation>; want: object | undefined }>([
  { why: "without an expiry", given: { validUntil: "" }, want: { isOutdated: true } },
  { why: "with an invalid expiry", given: { validUntil: "soon" }, want: { isOutdated: true } },
  { why: "at its expiry", given: { validUntil: "2026-01-01T00:10:00Z" }, want: { isOutdated: true } },
  { why: "for CPU", given: { dimension: "cpu" }, want: undefined },
  { why: "with a negative target", given: { target: -1 }, want: undefined },
  {
    why: "with the capacity of a replica, repeating the minimum",
    given: {
      evidence: {
        window: "10m",
        query: "q",
        values: { rps_per_replica: 95, requests_per_second: 240 },
        floor: "min_scale",
      },
      basis: "b",
      confidence: 0.9,
    },
    want: { rpsPerReplica: 95, demandRps: 240, isMinimum: true, basis: "b", confidence: 0.9, isOutdated: false },
  },
])("reads a recommendation $why", ({ given, want }) => {
  const view = viewOf([{ ...FRESH, ...given }]);
  view.apply(edge, { type: "synced" }, "live");
  const read = recommendedReplicas(view, { key, cluster: edge, nowMs })?.["Cart.add"];
  if (want === undefined) expect(read).toBeUndefined();
  else expect(read).toMatchObject(want);
});
