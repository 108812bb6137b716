import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/selectors.json" with { type: "json" };
import { formatFieldSelector, matchesFields, parseFieldSelector, type FieldRequirements } from "./field-selector.ts";

function parsed(text: string): FieldRequirements {
  const result = parseFieldSelector(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe("matches recorded Kubernetes parsing", () => {
  const rows: { text: string; canonical: string; refused?: boolean }[] = oracle.rows.fields;
  test.each(rows.filter((row) => row.refused === true))("rejects $text", ({ text }) => {
    expect(parseFieldSelector(text)).toMatchObject({
      ok: false,
      error: { path: "$", message: expect.stringContaining("is not a field selector") },
    });
  });
  test.each(rows.filter((row) => row.refused !== true))("parses $text as $canonical", ({ text, canonical }) => {
    expect(formatFieldSelector(parsed(text))).toBe(canonical);
    expect(parsed(canonical)).toEqual(parsed(text));
  });
});

test("rejects a requirement without a field, unlike Kubernetes", () => {
  expect(parseFieldSelector("=x").ok).toBe(false);
});

test.each([
  { text: "", matches: true, case: "everything" },
  { text: "metadata.name=web", matches: true, case: "equal" },
  { text: "metadata.name!=web", matches: false, case: "not equal" },
  { text: "metadata.name=web,metadata.namespace=other", matches: false, case: "all requirements must match" },
  { text: "spec.nodeName=", matches: true, case: "a missing field equals the empty string" },
  { text: "spec.nodeName!=a", matches: true, case: "a missing field is not equal to a" },
  { text: "spec.replicas=3", matches: true, case: "numbers compare as text" },
  { text: "spec.paused=false", matches: true, case: "booleans compare as text" },
  { text: "spec=x", matches: false, case: "an object has no comparable value" },
  { text: "constructor.name=Object", matches: false, case: "inherited properties are ignored" },
  { text: "metadata.name.length=3", matches: false, case: "a string has no members" },
])("$text: $case", ({ text, matches }) => {
  const object = { metadata: { name: "web", namespace: "shop" }, spec: { replicas: 3, paused: false } };
  expect(matchesFields(parsed(text), object)).toBe(matches);
});

describe("properties", () => {
  const requirement = fc.record({
    field: fc.stringMatching(/^[a-z]+(\.[a-z]+){0,2}$/),
    operator: fc.constantFrom("=", "!="),
    value: fc.oneof(fc.string(), fc.stringMatching(/^[\\,=!a]*$/)),
  });

  test("round-trips requirements regardless of order", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
        const text = formatFieldSelector(requirements);
        expect(formatFieldSelector(parsed(text))).toBe(text);
        expect(new Set(parsed(text).map((one) => JSON.stringify(one)))).toEqual(
          new Set(requirements.map(({ field, operator, value }) => JSON.stringify({ field, operator, value }))),
        );
        expect(formatFieldSelector(requirements.toReversed())).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("parses or rejects any text without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a=!,\\]*$/)), (text) => {
        const result = parseFieldSelector(text);
        if (result.ok) expect(parsed(formatFieldSelector(result.value))).toEqual(result.value);
      }),
      { numRuns: 500 },
    );
  });
});
