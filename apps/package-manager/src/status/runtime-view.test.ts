import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { RuntimeView } from "./runtime-view.ts";
import { reportOf } from "./testing/reports.ts";

const edge = "edge" as ClusterName;
const changed = (id: string, condition: "running" | "down" = "running", updatedAt = "2026-01-01T00:00:00Z") =>
  ({ type: "changed", report: reportOf("edge", id, { condition, runtime: { updatedAt } }) }) as const;

function viewOf(most?: number) {
  const view = new RuntimeView(virtualAmbient(1).clock, most);
  const told: string[] = [];
  view.onChange((cluster, change) =>
    told.push(
      change.type === "changed"
        ? `${change.report.unitId} ${change.report.condition}`
        : change.type === "removed"
          ? `${change.unitId} gone`
          : `${cluster} ${change.type}`,
    ),
  );
  return { view, told };
}

describe("what clusters said", () => {
  it("is told once, and what a whole account leaves out is gone", () => {
    const { view, told } = viewOf();
    view.apply(edge, { type: "syncing" }, "live");
    expect(view.syncState(edge)).toBe("unknown");
    view.apply(edge, changed("a"), "live");
    view.apply(edge, changed("b"), "live");
    view.apply(edge, { type: "synced" }, "live");
    expect(view.syncState(edge)).toBe("live");
    view.apply(edge, changed("a", "running", "2026-02-02T00:00:00Z"), "live");
    view.apply(edge, { type: "alive" }, "live");
    view.apply(edge, changed("a", "down"), "live");
    view.apply(edge, { type: "syncing" }, "live");
    view.apply(edge, changed("a", "down"), "live");
    view.apply(edge, { type: "synced" }, "live");
    expect(told).toEqual(["a running", "b running", "edge synced", "a down", "b gone", "edge synced"]);
  });

  it("stays when the cluster is lost, but is not called live", () => {
    const { view } = viewOf();
    view.apply(edge, { type: "syncing" }, "polled");
    view.apply(edge, changed("a"), "polled");
    view.apply(edge, { type: "synced" }, "polled");
    expect(view.syncState(edge)).toBe("polled");
    view.markLost(edge, "nobody there");
    expect([view.syncState(edge), view.syncError(edge)]).toEqual(["unknown", "nobody there"]);
    expect(view.get(edge, "a" as UnitId)).toBeDefined();
    view.apply(edge, { type: "alive" }, "polled");
    expect(view.syncState(edge)).toBe("polled");
  });

  it("an account that was cut short removes nothing", () => {
    const { view, told } = viewOf();
    view.apply(edge, changed("a"), "live");
    view.apply(edge, { type: "syncing" }, "live");
    view.markLost(edge, "cut");
    view.apply(edge, { type: "synced" }, "live");
    expect(view.get(edge, "a" as UnitId)).toBeDefined();
    expect(told).not.toContain("a gone");
  });

  it("is bounded, and says so when it is not all", () => {
    const { view } = viewOf(2);
    view.apply(edge, { type: "syncing" }, "live");
    for (const id of ["a", "b", "c"]) view.apply(edge, changed(id), "live");
    view.apply(edge, { type: "synced" }, "live");
    expect([...view.unitsOf(edge)]).toHaveLength(2);
    expect(view.syncState(edge)).toBe("unknown");
  });

  it("forgets a cluster with all it had", () => {
    const { view, told } = viewOf();
    view.apply(edge, changed("a"), "live");
    view.forget(edge);
    expect(told).toEqual(["a running", "a gone"]);
    expect([...view.unitsOf(edge)]).toEqual([]);
  });

  it("a report of its own that is older than what is known changes nothing", () => {
    const { view, told } = viewOf();
    expect(view.report(edge, changed("a", "down", "2026-01-02T00:00:00Z").report)).toBe(true);
    expect(view.report(edge, changed("a", "running", "2026-01-01T00:00:00Z").report)).toBe(false);
    expect(told).toEqual(["a down"]);
  });
});
