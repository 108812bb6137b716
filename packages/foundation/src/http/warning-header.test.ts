import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatWarnings, parseWarnings } from "./warning-header.ts";

describe("the Warning header", () => {
  test("returns every ASCII text", () => {
    const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 10 }), (texts) => {
        expect(parseWarnings(formatWarnings(texts))).toEqual(texts);
      }),
    );
  });

  test("is a valid header value for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        expect(formatWarnings(texts)).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });

  test("is bounded and counts the warnings that it does not list", () => {
    const header = formatWarnings(
      Array.from({ length: 100 }, () => "x".repeat(100_000)),
      5000,
    );
    expect(header.length).toBeLessThan(5000);
    const texts = parseWarnings(header);
    expect(texts.at(-1)).toBe(`${5000 - (texts.length - 1)} more warnings are not listed`);
  });

  test("ignores other codes", () => {
    expect(parseWarnings('299 kube "a \\"b\\"", 199 - "c"')).toEqual(['a "b"']);
  });
});
