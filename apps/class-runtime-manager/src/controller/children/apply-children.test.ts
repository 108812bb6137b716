import fc from "fast-check";
import { expect, test } from "vitest";
import { contains } from "./apply-children.ts";

test.each([
  { why: "the same", there: { a: 1 }, rendered: { a: 1 }, is: true },
  { why: "more is there", there: { a: 1, b: { c: 2 } }, rendered: { b: {} }, is: true },
  { why: "a value was changed", there: { a: 2 }, rendered: { a: 1 }, is: false },
  { why: "a field was removed", there: {}, rendered: { a: 1 }, is: false },
  { why: "an item was added", there: { l: [1, 2] }, rendered: { l: [1] }, is: false },
  { why: "defaults inside items", there: { l: [{ n: "a", d: true }] }, rendered: { l: [{ n: "a" }] }, is: true },
  { why: "another type", there: { a: "1" }, rendered: { a: 1 }, is: false },
  { why: "an object in place of a list", there: { a: {} }, rendered: { a: [] }, is: false },
])("$why: $is", ({ there, rendered, is }) => {
  expect(contains(there, rendered)).toBe(is);
});

test("everything contains itself, and nothing that was taken from it is contained the other way", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
      expect(contains(value, value)).toBe(true);
      const [first = ""] = Object.keys(value);
      const { [first]: _, ...rest } = value;
      expect(contains(value, rest)).toBe(true);
      expect(contains(rest, value)).toBe(value[first] === undefined);
    }),
  );
});
