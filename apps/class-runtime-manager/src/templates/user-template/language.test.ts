import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate, OMITTED, parseText, type Scope } from "./language.ts";

const SCOPE: Scope = {
  function: { name: "order", port: 8080, selector: { app: "order" }, http2: false, config: { "a.b": "dotted" } },
};

function valueOf(text: string): unknown {
  const pieces = parseText(text);
  if (!pieces.ok) return `no: ${pieces.error.message}`;
  const value = evaluate(pieces.value, SCOPE);
  return value.ok ? value.value : `none: ${value.error.message}`;
}

test.each([
  { text: "plain", want: "plain", case: "text without placeholders" },
  { text: "", want: "", case: "empty text" },
  { text: "{{ function.name }}", want: "order", case: "a value" },
  { text: "{{function.port}}", want: 8080, case: "a single placeholder keeps a number" },
  { text: "{{ function.http2 }}", want: false, case: "false is a value" },
  { text: "{{ function.selector }}", want: { app: "order" }, case: "a single placeholder keeps an object" },
  {
    text: "http://{{ function.name }}:{{ function.port }}/",
    want: "http://order:8080/",
    case: "inserted in text",
  },
  { text: "s={{ function.selector }}", want: 's={"app":"order"}', case: "an object in text becomes JSON" },
  { text: '{{ function.config["a.b"] }}', want: "dotted", case: "a name with a dot" },
  { text: "{{ function.zone ?? 3 }}", want: 3, case: "a number as fallback" },
  { text: '{{ function.zone ?? "}}" }}', want: "}}", case: "braces inside quotes" },
  { text: "{{ function.name ?? 'x' }}", want: "order", case: "a fallback not needed" },
  { text: "{{ function.zone ?? null }}", want: null, case: "null" },
  { text: '{{ "{{" }}x', want: "{{x", case: "a literal, for braces" },
  { text: "{{ true }}", want: true, case: "a word" },
  { text: "{{ function.zone? }}", want: OMITTED, case: "omitted without a value" },
  { text: "zone-{{ function.zone? }}", want: OMITTED, case: "omits the whole text" },
  { text: "{{ function.zone }}", want: "none: function.zone has no value", case: "no value and no fallback" },
  {
    text: "{{ function.constructor }}",
    want: "none: function.constructor has no value",
    case: "inherited members are not values",
  },
  {
    text: "{{ function.name.length }}",
    want: "none: function.name.length has no value",
    case: "text has no members",
  },
  { text: "{{ function.name", want: 'no: "{{ function.name" has no closing }}', case: "never closed" },
  { text: "{{ process.exit() }}", want: 'no: "process.exit()" is not a placeholder', case: "no calls" },
  { text: "{{ 1 + 1 }}", want: 'no: "1 + 1" is not a placeholder', case: "no arithmetic" },
  { text: "{{ }}", want: 'no: "" is not a placeholder', case: "empty" },
  { text: "{{ a ?? b }}", want: 'no: "a ?? b" is not a placeholder', case: "a fallback is a literal" },
])("$case: $text", ({ text, want }) => {
  expect(valueOf(text)).toEqual(want);
});

describe("any text", () => {
  test("evaluates to a value or a violation", () => {
    const fragment = fc.constantFrom("{{", "}}", "function.name", "??", "?", '"', "'", " ", ".", "[", "]", "x", "1");
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
        const pieces = parseText(fragments.join(""));
        if (!pieces.ok) expect(pieces.error.message).not.toBe("");
        else evaluate(pieces.value, SCOPE);
      }),
    );
  });

  test("returns a text without braces unchanged", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("{{")),
        (text) => {
          expect(valueOf(text)).toBe(text);
        },
      ),
    );
  });
});
