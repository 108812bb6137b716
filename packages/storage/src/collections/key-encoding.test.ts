import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeSegment, encodePair, encodeSegment, pairPrefix, secondOfPair } from "./key-encoding.ts";
import { compareKeys, inRange, keyAfter, prefixEnd, rangeOf } from "../port/key-order.ts";

const byBytes = (a: string, b: string): number => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
/** Well-formed strings with frequent special cases: control characters, the edges of the surrogates, the last one. */
const special = fc.constantFrom(
  "\0",
  "\u0001",
  "\u0002",
  "\u0003",
  "\u0005",
  "a",
  "/",
  "\uD7FF",
  "\uE000",
  "\uFFFF",
  "\u{10000}",
  "\u{10FFFF}",
);
const text = fc.oneof(
  fc.array(special, { maxLength: 5 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary" }),
);

describe("key order", () => {
  test("is the order of the UTF-8 bytes", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareKeys(a, b))).toBe(byBytes(a, b));
      }),
    );
  });

  test("the range of a prefix has exactly the keys with the prefix", () => {
    fc.assert(
      fc.property(text, text, text, (prefix, rest, other) => {
        const range = rangeOf({ prefix });
        expect(inRange(range, prefix + rest)).toBe(true);
        expect(inRange(range, other)).toBe(other.startsWith(prefix));
        const end = prefixEnd(prefix);
        expect(end === undefined || end.isWellFormed()).toBe(true);
      }),
    );
  });

  test("there is no key between a key and the next", () => {
    const key = text.filter((name) => name !== "" && !name.includes("\0"));
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(compareKeys(b, a) > 0).toBe(compareKeys(b, keyAfter(a)) >= 0);
      }),
    );
  });
});

describe("segments", () => {
  test("are decoded unchanged, contain no U+0000 and keep their order", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [encodeSegment(a), encodeSegment(b)];
        expect(decodeSegment(x)).toBe(a);
        expect(x).not.toContain("\0");
        expect(Math.sign(compareKeys(x, y))).toBe(byBytes(a, b));
      }),
    );
  });

  test("pairs sort by the first string, then by the second, and share the prefix of the first", () => {
    fc.assert(
      fc.property(text, text, text, text, (a, b, c, d) => {
        const expected = byBytes(a, c) || byBytes(b, d);
        expect(Math.sign(compareKeys(encodePair(a, b), encodePair(c, d)))).toBe(expected);
        expect(secondOfPair(encodePair(a, b))).toBe(b);
        expect(encodePair(a, b).startsWith(pairPrefix(c))).toBe(a === c);
      }),
    );
  });

  test("reject lone surrogates and invalid index entries", () => {
    expect(() => encodeSegment("\uD800")).toThrow(/surrogate/);
    expect(() => secondOfPair("no end")).toThrow(/second part/);
  });
});
