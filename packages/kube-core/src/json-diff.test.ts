import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equalJson } from "@oaas/foundation";
import { diffJsonPatch } from "./json-diff.ts";
import { applyJsonPatch } from "./json-patch.ts";

test.each<{ from: unknown; to: unknown; patch: unknown[]; case: string }>([
  { from: { a: 1 }, to: { a: 1 }, patch: [], case: "no difference" },
  { from: { a: 1, b: 2 }, to: { b: 2, a: 1 }, patch: [], case: "member order is ignored" },
  { from: { a: 1 }, to: { a: 2 }, patch: [{ op: "replace", path: "/a", value: 2 }], case: "changed member" },
  {
    from: { a: 1 },
    to: { b: 1 },
    patch: [
      { op: "remove", path: "/a" },
      { op: "add", path: "/b", value: 1 },
    ],
    case: "another member",
  },
  { from: { a: null }, to: {}, patch: [{ op: "remove", path: "/a" }], case: "null is a value" },
  { from: { a: undefined }, to: { b: undefined }, patch: [], case: "undefined is absent" },
  {
    from: { "a/b": { "m~n": 1 } },
    to: { "a/b": { "m~n": 2 } },
    patch: [{ op: "replace", path: "/a~1b/m~0n", value: 2 }],
    case: "names are escaped",
  },
  { from: [1, 2, 3], to: [1, 9, 2, 3], patch: [{ op: "add", path: "/1", value: 9 }], case: "one inserted item" },
  {
    from: [1, 2, 3, 4],
    to: [1, 4],
    patch: [
      { op: "remove", path: "/2" },
      { op: "remove", path: "/1" },
    ],
    case: "two removed items, in reverse order",
  },
  {
    from: [{ n: 1 }, { n: 2 }],
    to: [{ n: 1 }, { n: 3 }],
    patch: [{ op: "replace", path: "/1/n", value: 3 }],
    case: "nested in an item",
  },
  { from: { a: [] }, to: { a: {} }, patch: [{ op: "replace", path: "/a", value: {} }], case: "another type" },
  { from: 1, to: [1], patch: [{ op: "replace", path: "", value: [1] }], case: "whole document" },
])("$case", ({ from, to, patch }) => {
  expect(diffJsonPatch(from, to)).toEqual(patch);
});

describe("turns the first document into the second when applied", () => {
  const small = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, 0, 1, "x"),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("a", "b", "a/b", "m~n", "", "0", "-", "constructor"), tie("value"), { maxKeys: 4 }),
    ),
  })).value;

  test.each([
    { title: "turns similar documents into each other when applied", value: small },
    { title: "any documents", value: fc.jsonValue() },
  ])("$title", ({ value }) => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        const result = applyJsonPatch(from, diffJsonPatch(from, to));
        if (!result.ok) throw new Error(result.error.message);
        expect(equalJson(result.value, to)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
