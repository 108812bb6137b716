import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalRequirements,
  checkRequirement,
  matchesLabels,
  selectorRequirements,
  selectsLabels,
  type LabelRequirement,
  type LabelSelector,
} from "./label-selector.ts";

describe("one requirement", () => {
  test.each<{ requirement: LabelRequirement; yes: Record<string, string>[]; no: Record<string, string>[] }>([
    {
      requirement: { key: "a", operator: "In", values: ["x", "y"] },
      yes: [{ a: "x" }, { a: "y", b: "z" }],
      no: [{}, { a: "z" }, { b: "x" }],
    },
    { requirement: { key: "a", operator: "NotIn", values: ["x"] }, yes: [{}, { a: "z" }], no: [{ a: "x" }] },
    { requirement: { key: "a", operator: "Exists", values: [] }, yes: [{ a: "" }], no: [{}] },
    { requirement: { key: "a", operator: "DoesNotExist", values: [] }, yes: [{}], no: [{ a: "" }] },
    {
      requirement: { key: "a", operator: "Gt", values: ["9"] },
      yes: [{ a: "10" }, { a: "010" }],
      no: [{}, { a: "9" }, { a: "x" }, { a: "9223372036854775808" }],
    },
    { requirement: { key: "a", operator: "Lt", values: ["9"] }, yes: [{ a: "8" }], no: [{}, { a: "9" }, { a: "" }] },
    {
      requirement: { key: "constructor", operator: "Exists", values: [] },
      yes: [JSON.parse('{"constructor":"x"}')],
      no: [{}],
    },
    { requirement: { key: "toString", operator: "DoesNotExist", values: [] }, yes: [{}], no: [] },
  ])("$requirement", ({ requirement, yes, no }) => {
    expect(yes.filter((labels) => !matchesLabels([requirement], labels))).toEqual([]);
    expect(no.filter((labels) => matchesLabels([requirement], labels))).toEqual([]);
  });
});

describe("label selector of an object", () => {
  test("matches nothing, everything, or all requirements together", () => {
    const selector: LabelSelector = { matchLabels: { a: "x" }, matchExpressions: [{ key: "b", operator: "Exists" }] };
    expect(selectsLabels(undefined, { a: "x" })).toBe(false);
    expect(selectsLabels({}, { a: "x" })).toBe(true);
    expect(selectsLabels({})).toBe(true);
    expect([{ a: "x", b: "" }, { a: "x" }, { b: "" }].map((labels) => selectsLabels(selector, labels))).toEqual([
      true,
      false,
      false,
    ]);
    expect(selectorRequirements(selector)).toEqual({
      ok: true,
      value: [
        { key: "a", operator: "In", values: ["x"] },
        { key: "b", operator: "Exists", values: [] },
      ],
    });
  });

  test("reports every violation with its path, and an invalid selector selects nothing", () => {
    const selector = {
      matchLabels: { "-a": "x", b: "é" },
      matchExpressions: [
        { key: "c", operator: "In" },
        { key: "c", operator: "Exists", values: ["x"] },
        { key: "c", operator: "Gt", values: ["1"] },
        { key: "c", operator: "NotIn", values: ["ok", "-"] },
      ],
    } as unknown as LabelSelector;
    const result = selectorRequirements(selector);
    expect(result.ok ? [] : result.error.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "$.matchLabels['-a']: \"-a\" is not a label key",
      '$.matchLabels.b: "é" is not a label value',
      "$.matchExpressions[0].values: is empty, In needs at least one value",
      "$.matchExpressions[1].values: must be empty for Exists",
      '$.matchExpressions[2].operator: "Gt" is not an operator',
      '$.matchExpressions[3].values[1]: "-" is not a label value',
    ]);
    expect(selectsLabels(selector, {})).toBe(false);
  });
});

test.each<{ requirement: LabelRequirement; path: string }>([
  { requirement: { key: "a/b/c", operator: "Exists", values: [] }, path: "$.key" },
  { requirement: { key: "a", operator: "Gt", values: ["1", "2"] }, path: "$.values" },
  { requirement: { key: "a", operator: "Lt", values: ["x"] }, path: "$.values[0]" },
])("rejects at $path: $requirement", ({ requirement, path }) => {
  expect(checkRequirement(requirement)).toMatchObject([{ path }]);
});

test("formats canonically regardless of input order, with the same meaning", () => {
  const requirement = fc
    .record({
      key: fc.constantFrom("a", "b", "constructor"),
      operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
      values: fc.array(fc.constantFrom("x", "y", "5", ""), { maxLength: 3 }),
    })
    // Order matters only for invalid input: Gt and Lt take exactly one value.
    .filter((candidate) => checkRequirement(candidate).length === 0);
  const labels = fc.dictionary(fc.constantFrom("a", "b", "constructor"), fc.constantFrom("x", "y", "7", ""));
  fc.assert(
    fc.property(fc.array(requirement), labels, (requirements, labels) => {
      const canonical = canonicalRequirements(requirements);
      expect(canonicalRequirements(requirements.toReversed())).toEqual(canonical);
      expect(canonicalRequirements(canonical)).toEqual(canonical);
      expect(matchesLabels(canonical, labels)).toBe(matchesLabels(requirements, labels));
    }),
  );
});
