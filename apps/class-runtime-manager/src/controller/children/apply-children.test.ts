import fc from "fast-check";
import { expect, test } from "vitest";
import { contains } from "./apply-children.ts";

test.each([
  { case: "equal objects", live: { a: 1 }, rendered: { a: 1 }, expected: true },
  { case: "additional live fields", live: { a: 1, b: { c: 2 } }, rendered: { b: {} }, expected: true },
  { case: "a changed value", live: { a: 2 }, rendered: { a: 1 }, expected: false },
  { case: "a removed field", live: {}, rendered: { a: 1 }, expected: false },
  { case: "an added item", live: { l: [1, 2] }, rendered: { l: [1] }, expected: false },
  { case: "defaults inside items", live: { l: [{ n: "a", d: true }] }, rendered: { l: [{ n: "a" }] }, expected: true },
  { case: "a different type", live: { a: "1" }, rendered: { a: 1 }, expected: false },
  { case: "an object in place of a list", live: { a: {} }, rendered: { a: [] }, expected: false },
])("contains is $expected for $case", ({ live, rendered, expected }) => {
  expect(contains(live, rendered)).toBe(expected);
});

test("an object contains itself and every object with fewer fields, but not the reverse", () => {
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
