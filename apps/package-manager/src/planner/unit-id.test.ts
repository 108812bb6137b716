import { checkText, UNIT_ID, type ClusterName, type DeploymentKey } from "@oaas/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unitIdOf } from "./unit-id.ts";

const idOf = (key: string, cluster: string): string => unitIdOf(key as DeploymentKey, cluster as ClusterName);

test("the id of a deployment in a cluster never changes", () => {
  expect(idOf("orders", "edge-1")).toBe("orders-edge-1-0f604f2d4069");
});

test.each([
  ["Shop.Orders_2026", "EU-West.1"],
  ["1st", "0"],
  ["x".repeat(253), "y".repeat(63)],
  [`${"x".repeat(31)}.y`, "z"],
])("the id of %s in %s is a DNS label short enough for child names", (key, cluster) => {
  expect(checkText(UNIT_ID, idOf(key, cluster))).toEqual([]);
  expect(idOf(key, cluster).length).toBeLessThanOrEqual(45);
});

test.each([
  { one: idOf("a-b", "c"), other: idOf("a", "b-c") },
  { one: idOf("A", "c"), other: idOf("a", "c") },
  { one: idOf("a.b", "c"), other: idOf("a_b", "c") },
])("similar pairs get different ids: $one, $other", ({ one, other }) => {
  expect(one).not.toBe(other);
});

test("any valid names give a valid id that is unique per pair", () => {
  const name = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,60}[A-Za-z0-9])?$/);
  fc.assert(
    fc.property(name, name, name, name, (key, cluster, otherKey, otherCluster) => {
      expect(checkText(UNIT_ID, idOf(key, cluster))).toEqual([]);
      const same = key === otherKey && cluster === otherCluster;
      expect(idOf(key, cluster) === idOf(otherKey, otherCluster)).toBe(same);
    }),
  );
});
