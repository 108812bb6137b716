import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { expect, it } from "vitest";
import { unitIdOf } from "../planner/unit-id.ts";
import { recommendedReplicas } from "./runtime-query.ts";
import { RuntimeView } from "./runtime-view.ts";
import { reportOf } from "./testing/reports.ts";

it("returns recommendations only while the cluster is followed", () => {
  const [key, edge] = ["cart" as DeploymentKey, "edge" as ClusterName];
  const view = new RuntimeView(virtualAmbient(1).clock);
  const report = reportOf("edge", unitIdOf(key, edge), { recommendedReplicas: { "Cart.add": 4 } });
  view.apply(edge, { type: "syncing" }, "live");
  view.apply(edge, { type: "changed", report }, "live");
  expect(recommendedReplicas(view, key, edge)).toBeUndefined();
  view.apply(edge, { type: "synced" }, "live");
  expect(recommendedReplicas(view, key, edge)).toEqual({ "Cart.add": 4 });
  view.markLost(edge, "cut");
  expect(recommendedReplicas(view, key, edge)).toBeUndefined();
});
