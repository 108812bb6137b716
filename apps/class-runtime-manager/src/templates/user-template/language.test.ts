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
  { text: "plain", want: "plain", why: "text without placeholders" },
  { text: "", want: "", why: "empty text" },
  { text: "{{ function.name }}", want: "order", why: "a value" },
  { text: "{{function.port}}", want: 8080, why: "a single placeholder keeps a number" },
  { text: "{{ function.http2 }}", want: false, why: "false is a value" },
  { text: "{{ function.selector }}", want: { app: "order" }, why: "a single placeholder keeps an object" },
  {
    text: "http://{{ function.name }}:{{ function.port }}/",
    want: "http://order:8080/",
    why: "inserted in text",
  },
  { text: "s={{ function.selector }}", want: 's={"app":"order"}', why: "an object in text becomes JSON" },
  { text: '{{ function.config["a.b"] }}', want: "dotted", why: "a name with a dot" },
  { text: "{{ function.zone ?? 3 }}", want: 3, why: "a number as fallback" },
  { text: '{{ function.zone ?? "}}" }}', want: "}}", why: "braces inside quotes" },
  { text: "{{ function.name ?? 'x' }}", want: "order", why: "a fallback not needed" },
  { text: "{{ function.zone ?? null }}", want: null, why: "null" },
  { text: '{{ "{{" }}x', want: "{{x", why: "a literal, for braces" },
  { text: "{{ true }}", want: true, why: "a word" },
  { text: "{{ function.zone? }}", want: OMITTED, why: "omitted without a value" },
  { text: "zone-{{ function.zone? }}", want: OMITTED, why: "omits the whole text" },
  { text: "{{ function.zone }}", want: "none: function.zone has no value", why: "no value and no fallback" },
  {
    text: "{{ function.constructor }}",
    want: "none: function.constructor has no value",
    why: "inherited members are not values",
  },
  {
    text: "{{ function.name.length }}",
    want: "none: function.name.length has no value",
    why: "text has no members",
  },
  { text: "{{ function.name", want: 'no: "{{ function.name" has no closing }}', why: "never closed" },
  { text: "{{ process.exit() }}", want: 'no: "process.exit()" is not a placeholder', why: "no calls" },
  { text: "{{ 1 + 1 }}", want: 'no: "1 + 1" is not a placeholder', why: "no arithmetic" },
  { text: "{{ }}", want: 'no: "" is not a placeholder', why: "nothing" },
  { text: "{{ a ?? b }}", want: 'no: "a ?? b" is not a placeholder', why: "a fallback is a literal" },
])("$why: $text", ({ text, want }) => {
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
