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
  const notified: string[] = [];
  view.onChange((cluster, change) =>
    notified.push(
      change.type === "changed"
        ? `${change.report.unitId} ${change.report.condition}`
        : change.type === "removed"
          ? `${change.unitId} removed`
          : `${cluster} ${change.type}`,
    ),
  );
  return { view, notified };
}

describe("RuntimeView", () => {
  it("notifies each change once and removes units that a complete list lacks", () => {
    const { view, notified } = viewOf();
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
    expect(notified).toEqual(["a running", "b running", "edge synced", "a down", "b removed", "edge synced"]);
  });

  it("keeps the units of a lost cluster, not live", () => {
    const { view } = viewOf();
    view.apply(edge, { type: "syncing" }, "polled");
    view.apply(edge, changed("a"), "polled");
    view.apply(edge, { type: "synced" }, "polled");
    expect(view.syncState(edge)).toBe("polled");
    view.markLost(edge, "connection refused");
    expect([view.syncState(edge), view.syncError(edge)]).toEqual(["unknown", "connection refused"]);
    expect(view.get(edge, "a" as UnitId)).toBeDefined();
    view.apply(edge, { type: "alive" }, "polled");
    expect(view.syncState(edge)).toBe("polled");
  });

  it("removes nothing after an incomplete list", () => {
    const { view, notified } = viewOf();
    view.apply(edge, changed("a"), "live");
    view.apply(edge, { type: "syncing" }, "live");
    view.markLost(edge, "cut");
    view.apply(edge, { type: "synced" }, "live");
    expect(view.get(edge, "a" as UnitId)).toBeDefined();
    expect(notified).not.toContain("a removed");
  });

  it("is bounded and reports an overflow as unknown", () => {
    const { view } = viewOf(2);
    view.apply(edge, { type: "syncing" }, "live");
    for (const id of ["a", "b", "c"]) view.apply(edge, changed(id), "live");
    view.apply(edge, { type: "synced" }, "live");
    expect([...view.unitsOf(edge)]).toHaveLength(2);
    expect(view.syncState(edge)).toBe("unknown");
  });

  it("removes a cluster with its units", () => {
    const { view, notified } = viewOf();
    view.apply(edge, changed("a"), "live");
    view.forget(edge);
    expect(notified).toEqual(["a running", "a removed"]);
    expect([...view.unitsOf(edge)]).toEqual([]);
  });

  it("ignores a pushed report that is older than the known one", () => {
    const { view, notified } = viewOf();
    expect(view.applyReport(edge, changed("a", "down", "2026-01-02T00:00:00Z").report)).toBe(true);
    expect(view.applyReport(edge, changed("a", "running", "2026-01-01T00:00:00Z").report)).toBe(false);
    expect(notified).toEqual(["a down"]);
  });
});
