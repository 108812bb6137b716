import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { RenderedObject } from "../../ports.ts";
import { mergeObjectChanges, type ClusterObjects } from "./plan-objects.ts";
import { planObjectsToWire } from "./plan-objects-view.ts";

function object(name: string, change: RenderedObject["change"], image?: string): RenderedObject {
  const fields = image === undefined ? [] : [{ path: ".image", was: '"a:1"', now: JSON.stringify(image) }];
  return { kind: "Deployment", name, change, fields, moreFields: 0 };
}

/** A cluster whose unit is named after it. */
function rendered(cluster: string, ...children: readonly ((unit: string) => RenderedObject)[]): ClusterObjects {
  const unitId = `shop-${cluster}` as UnitId;
  const own = { ...object(unitId, "update"), kind: "ClassRuntime" };
  const objects = [own, ...children.map((child) => child(unitId))];
  const unit = { namespace: "default", template: "dev", objects, moreObjects: 0, warnings: [] };
  return { cluster: cluster as ClusterName, unitId, state: "rendered", unit };
}

describe("changes over several clusters", () => {
  test("lists a change that is the same in several clusters once", () => {
    const update = (unit: string) => object(`${unit}-fn-0`, "update", "a:2");
    const { changes } = mergeObjectChanges([rendered("a", update), rendered("b", update), rendered("c")]);
    expect(changes).toEqual([
      expect.objectContaining({ kind: "ClassRuntime", name: "{unit}", clusters: ["a", "b", "c"] }),
      expect.objectContaining({ kind: "Deployment", name: "{unit}-fn-0", clusters: ["a", "b"] }),
    ]);
  });

  test("keeps changes apart that differ in a value, with the real names", () => {
    const { changes } = mergeObjectChanges([
      rendered("a", (unit) => object(unit, "update", "a:2")),
      rendered("b", (unit) => object(unit, "update", "a:3")),
    ]);
    expect(changes.filter(({ kind }) => kind === "Deployment").map(({ name, clusters }) => [name, clusters])).toEqual([
      ["shop-a", ["a"]],
      ["shop-b", ["b"]],
    ]);
  });

  test("leaves unchanged objects out, and lists what cannot be applied and what is deleted first", () => {
    const { changes } = mergeObjectChanges([
      rendered(
        "a",
        (unit) => object(`${unit}-1`, "create"),
        (unit) => object(`${unit}-2`, "unchanged"),
        (unit) => object(`${unit}-3`, "delete"),
        (unit) => ({ ...object(`${unit}-4`, "blocked"), problem: "taken" }),
      ),
    ]);
    expect(changes.map(({ change }) => change)).toEqual(["blocked", "delete", "update", "create"]);
  });

  test("is bounded", () => {
    const many = Array.from({ length: 250 }, (_, index) => (unit: string) => object(`${unit}-${index}`, "create"));
    const merged = mergeObjectChanges([rendered("a", ...many)]);
    expect([merged.changes.length, merged.more]).toEqual([200, 51]);
    const [cluster] = planObjectsToWire([rendered("a", ...many)]).clusters;
    expect([cluster?.objects.length, cluster?.more_objects, cluster?.counts.create]).toEqual([64, 187, 250]);
  });
});

test("names clusters that are left, refuse the unit or do not answer", () => {
  const at = (cluster: string) => ({ cluster: cluster as ClusterName, unitId: `u-${cluster}` as UnitId });
  const wire = planObjectsToWire([
    { ...at("left"), state: "removed" },
    { ...at("old"), state: "unknown", message: "update it" },
    { ...at("strict"), state: "refused", message: "no such template" },
  ]);
  expect(wire.changes).toEqual([]);
  expect(wire.clusters.map(({ cluster, state, message }) => [cluster, state, message])).toEqual([
    ["left", "removed", null],
    ["old", "unknown", "update it"],
    ["strict", "refused", "no such template"],
  ]);
});
