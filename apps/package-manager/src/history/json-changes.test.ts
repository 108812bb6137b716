import { equalJson } from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonChanges } from "./json-changes.ts";

describe("changes between two JSON values", () => {
  test.each([
    { why: "equal", before: { a: 1 }, after: { a: 1 }, changes: [] },
    {
      why: "members added, removed and changed",
      before: { a: 1, b: 2 },
      after: { a: 3, c: 4 },
      changes: [
        { path: "$.a", change: "changed", before: 1, after: 3 },
        { path: "$.b", change: "removed", before: 2 },
        { path: "$.c", change: "added", after: 4 },
      ],
    },
    {
      why: "a named item inserted in front does not change the others",
      before: { functions: [{ key: "b", x: 1 }] },
      after: { functions: [{ key: "a" }, { key: "b", x: 2 }] },
      changes: [
        { path: "$.functions.b.x", change: "changed", before: 1, after: 2 },
        { path: "$.functions.a", change: "added", after: { key: "a" } },
      ],
    },
    {
      why: "reordered named items",
      before: ["a", "b"],
      after: ["b", "a"],
      changes: [{ path: "$", change: "changed", before: ["a", "b"], after: ["b", "a"] }],
    },
    {
      why: "reordered, added and removed named items: both full orders",
      before: ["a", "b", "c"],
      after: ["c", "a", "d"],
      changes: [
        { path: "$.b", change: "removed", before: "b" },
        { path: "$.d", change: "added", after: "d" },
        { path: "$", change: "changed", before: ["a", "b", "c"], after: ["c", "a", "d"] },
      ],
    },
    {
      why: "items without names are compared by index",
      before: [1, 2],
      after: [1, 3, 4],
      changes: [
        { path: "$[1]", change: "changed", before: 2, after: 3 },
        { path: "$[2]", change: "added", after: 4 },
      ],
    },
  ])("$why", ({ before, after, changes }) => {
    expect(jsonChanges(before, after)).toEqual(changes);
  });

  test("no changes if and only if the values are equal", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(jsonChanges(a, b).length === 0).toBe(equalJson(a, b));
        expect(jsonChanges(a, a)).toEqual([]);
      }),
    );
  });
});
