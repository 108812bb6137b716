import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test("lists added, removed and changed fields by path, and nothing of equal documents", () => {
  const before = { key: "a", nfr: { availability: 0.9, latency: 5 }, clusters: ["x"], gone: 1 };
  const after = { key: "a", nfr: { availability: 0.99, latency: 5 }, clusters: ["x", "y"], fresh: { deep: true } };
  expect(changedFields(before, after)).toEqual([
    { path: "$.clusters", change: "changed", before: ["x"], after: ["x", "y"] },
    { path: "$.fresh", change: "added", after: { deep: true } },
    { path: "$.gone", change: "removed", before: 1 },
    { path: "$.nfr.availability", change: "changed", before: 0.9, after: 0.99 },
  ]);
  expect(changedFields(before, structuredClone(before))).toEqual([]);
  expect(changedFields({ a: { b: 1 } }, { a: [1] })).toEqual([
    { path: "$.a", change: "changed", before: { b: 1 }, after: [1] },
  ]);
});
