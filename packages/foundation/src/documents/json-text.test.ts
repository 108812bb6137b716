import fc from "fast-check";
import { expect, test } from "vitest";
import { findDocumentProblem } from "./document-limits.ts";
import { findJsonTextProblem, parseJson } from "./json-text.ts";

const LIMITS = { nodes: 6, depth: 3 };

test.each([
  { text: "[1,2,3,4,5]", problem: undefined },
  { text: "[1,2,3,4,5,6]", problem: "has more than 6 values" },
  { text: '{"a":1,"b":[2,3],"c":{}}', problem: undefined },
  { text: '{"a":1,"b":[2,3],"c":{"d":1}}', problem: "has more than 6 values" },
  { text: "[[[]]]", problem: undefined },
  { text: "[[[[]]]]", problem: "is nested too deeply: more than 3 levels" },
  { text: String.raw`["[[[[\"[[,,,,,,,,,\\", "]"]`, problem: undefined },
  { text: "[".repeat(400_000), problem: "is nested too deeply: more than 3 levels" },
  { text: '{"a":'.repeat(400_000), problem: "is nested too deeply: more than 3 levels" },
  { text: `[${"0,".repeat(100_000)}0]`, problem: "has more than 6 values" },
])("measures $text.length characters: $problem", ({ text, problem }) => {
  expect(findJsonTextProblem(text, LIMITS)?.message).toBe(problem);
});

test("measures a text as its parsed value is measured", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 30 }), fc.nat(5), (value, nodes, depth) => {
      const text = JSON.stringify(value, undefined, nodes % 2);
      const limits = { nodes, depth };
      expect(findJsonTextProblem(text, limits) === undefined).toBe(
        findDocumentProblem(JSON.parse(text), limits) === undefined,
      );
    }),
  );
});

test("never throws, whatever the text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseJson(text)));
});

test.each([
  { text: " ", message: "is empty" },
  { text: "{", message: /^is not valid JSON: / },
  { text: "[".repeat(400_000) + "]".repeat(400_000), message: "is nested too deeply: more than 100 levels" },
])("rejects with a fix", ({ text, message }) => {
  expect(parseJson(text)).toMatchObject({ ok: false, error: { path: "$", message: expect.stringMatching(message) } });
});
