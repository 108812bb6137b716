import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, equalJson, equalMembers } from "./canonical-json.ts";

describe("canonical JSON", () => {
  test.each([
    {
      value: { b: 1, a: { d: [2, 1], c: null } },
      text: '{"a":{"c":null,"d":[2,1]},"b":1}',
      case: "sorts members at every depth, but not arrays",
    },
    { value: { a: undefined, b: 1 }, text: '{"b":1}', case: "ignores undefined members" },
    {
      value: { "\u{1F600}": 1, "\uFB33": 2, A: 3, a: 4 },
      text: '{"A":3,"a":4,"\u{1F600}":1,"\uFB33":2}',
      case: "UTF-16 order",
    },
    { value: JSON.parse('{"__proto__":1,"a":2}'), text: '{"__proto__":1,"a":2}', case: "an own __proto__ is data" },
    { value: -0, text: "0", case: "minus zero is zero" },
    { value: [1e21, 1e-7, 0.1], text: "[1e+21,1e-7,0.1]", case: "numbers as ECMAScript prints them" },
    { value: "\uD800", text: '"\\ud800"', case: "a lone surrogate is escaped, not replaced" },
  ])("$text ($case)", ({ value, text }) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test.each([
    { value: { a: [Number.NaN] }, message: "$.a[0] is NaN" },
    { value: { a: new Date(0) }, message: "$.a is a Date" },
    { value: { a: new Map() }, message: "$.a is a Map" },
    { value: { a: () => 1 }, message: "$.a is of type function" },
    { value: { a: 1n }, message: "$.a is of type bigint" },
    { value: [undefined], message: "$[0] is of type undefined" },
  ])("rejects: $message", ({ value, message }) => {
    expect(() => canonicalJson(value)).toThrow(message);
  });

  test("parses to the same value and does not depend on the order of members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
      }),
    );
  });
});

describe("equality", () => {
  test.each<{ a: unknown; b: unknown; equal: boolean; case: string }>([
    { a: { x: 1, y: undefined }, b: { x: 1 }, equal: true, case: "ignores undefined members" },
    { a: { x: undefined }, b: { y: undefined }, equal: true, case: "ignores undefined members on both sides" },
    { a: { x: null }, b: {}, equal: false, case: "does not ignore null" },
    { a: [1, 2], b: [2, 1], equal: false, case: "compares the order of arrays" },
    { a: [], b: {}, equal: false, case: "an array is not an object" },
    { a: {}, b: [], equal: false, case: "an object is not an array" },
    { a: {}, b: JSON.parse('{"__proto__":{}}'), equal: false, case: "an own __proto__ counts" },
    { a: { constructor: 1 }, b: { toString: 1 }, equal: false, case: "inherited members do not count" },
    { a: 0, b: -0, equal: true, case: "JSON has one zero" },
    { a: "1", b: 1, equal: false, case: "types differ" },
  ])("$case", ({ a, b, equal }) => {
    expect(equalJson(a, b)).toBe(equal);
    expect(equalJson(b, a)).toBe(equal);
  });

  test("of objects can ignore members", () => {
    expect(equalMembers({ x: 1, at: 1 }, { x: 1, at: 2 }, ["at"])).toBe(true);
    expect(equalMembers({ x: 1, at: 1 }, { x: 1 }, ["at"])).toBe(true);
    expect(equalMembers({ x: 1 }, { x: 1, at: 2 }, ["at"])).toBe(true);
    expect(equalMembers({ x: 1, at: 1 }, { x: 2, at: 1 }, ["at"])).toBe(false);
    expect(equalMembers({ x: 1, at: 1 }, { x: 1, at: 1, y: 1 }, ["at"])).toBe(false);
    expect(equalMembers({ x: { at: 1 } }, { x: { at: 2 } }, ["at"])).toBe(false);
  });

  test("matches the canonical JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (a, b) => {
        expect(equalJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(equalJson(a, reversed(a))).toBe(true);
      }),
    );
  });
});

/** Returns the value with its members in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
