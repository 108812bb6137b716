import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/selectors.json" with { type: "json" };
import { canonicalRequirements, checkRequirement, matchesLabels, type LabelRequirement } from "./label-selector.ts";
import { formatLabelSelector, parseLabelSelector } from "./label-selector-text.ts";

describe("matches recorded Kubernetes parsing and matching", () => {
  const rows: { text: string; canonical: string; refused?: boolean; matches?: number[] }[] = oracle.rows.labels;
  const labelSets: Record<string, string>[] = oracle.rows.labelSets;

  test.each(rows.filter((row) => row.refused === true))("rejects $text", ({ text }) => {
    expect(parseLabelSelector(text)).toMatchObject({
      ok: false,
      error: { path: "$", message: expect.stringContaining("is not a label selector") },
    });
  });

  test.each(rows.filter((row) => row.refused !== true))("parses $text", ({ text, canonical, matches = [] }) => {
    const parsed = parseLabelSelector(text);
    if (!parsed.ok) throw new Error(parsed.error.message);
    expect(labelSets.flatMap((labels, index) => (matchesLabels(parsed.value, labels) ? [index] : []))).toEqual(matches);
    expect(parseLabelSelector(canonical)).toEqual(parsed);
  });
});

describe("parses text to requirements and formats them", () => {
  test.each([
    { text: "", canonical: "" },
    { text: "a=b,c!=d,e in (x,y),f notin (z),g,!h", canonical: "a=b,c!=d,e in (x,y),f!=z,g,!h" },
    { text: "b==1 , a in ( y, x,x )", canonical: "a in (x,y),b=1" },
    { text: "a in (,x)", canonical: "a in (,x)" },
    { text: "a=", canonical: "a=" },
    { text: "a>4,a<6", canonical: "a>4,a<6" },
  ])("parses $text as $canonical", ({ text, canonical }) => {
    const parsed = parseLabelSelector(text);
    if (!parsed.ok) throw new Error(parsed.error.message);
    expect(formatLabelSelector(parsed.value)).toBe(canonical);
  });

  test.each([
    { text: "a in x", message: '"a in x" is not a label selector: expected (, found "x" at 6' },
    { text: "a=x b", message: '"a=x b" is not a label selector: expected , or the end, found "b" at 5' },
    { text: "a,", message: '"a," is not a label selector: expected a key, found the end' },
    { text: "a in (x", message: '"a in (x" is not a label selector: expected , or ), found the end' },
    { text: "a!x", message: '"a!x" is not a label selector: expected an operator, found "!" at 2' },
  ])("$message", ({ text, message }) => {
    expect(parseLabelSelector(text)).toMatchObject({ ok: false, error: { message } });
  });
});

describe("properties", () => {
  const key = fc.oneof(
    fc.constantFrom("in", "notin", "a", "constructor", "__proto__x"),
    fc.stringMatching(/^([a-z][a-z0-9.]{0,4}[a-z]\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?$/),
  );
  const value = fc.oneof(
    fc.constantFrom("", "in", "notin", "5"),
    fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?$/),
  );
  const requirement = fc.oneof(
    fc.record({
      key,
      operator: fc.constantFrom("In", "NotIn"),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant<string[]>([]) }),
    fc.record({ key, operator: fc.constantFrom("Gt", "Lt"), values: fc.nat().map((number) => [String(number)]) }),
  ) satisfies fc.Arbitrary<LabelRequirement>;

  test("round-trips requirements", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 5 }), (requirements) => {
        fc.pre(requirements.every((one) => checkRequirement(one).length === 0));
        expect(parseLabelSelector(formatLabelSelector(requirements))).toEqual({
          ok: true,
          value: canonicalRequirements(requirements),
        });
      }),
      { numRuns: 500 },
    );
  });

  test("parses any text to a valid selector or rejects it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[ab=!(),<> ]*$/)), (text) => {
        const parsed = parseLabelSelector(text);
        if (parsed.ok) expect(parsed.value.flatMap(checkRequirement)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
