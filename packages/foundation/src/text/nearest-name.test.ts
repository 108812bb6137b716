import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editDistance, nearest, nearestName } from "./nearest-name.ts";

describe("edit distance", () => {
  test.each([
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["HPA", "HAP", 1],
    ["same", "same", 0],
  ])("%s to %s is %i", (from, to, want) => {
    expect(editDistance(from, to)).toBe(want);
  });

  test("is symmetric, and zero for equal texts only", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });

  test("returns an empty name without candidates", () => {
    expect(nearest("a", []).name).toBe("");
  });
});

describe("the nearest name", () => {
  test.each([
    ["clas_key", "class_key"],
    ["Classes", "classes"],
    ["xyz", undefined],
    ["x".repeat(1_000_000), undefined],
  ])("of %.20s is %s", (name, nearestKnown) => {
    expect(nearestName(name, ["class_key", "classes", "key_specs"])).toBe(nearestKnown);
  });
});
