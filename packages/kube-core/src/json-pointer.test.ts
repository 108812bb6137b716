import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arrayIndex, formatPointer, parsePointer, valueAt } from "./json-pointer.ts";

/** RFC 6901, section 5. */
const document = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

describe("RFC 6901 examples", () => {
  test.each([
    { pointer: "", value: document },
    { pointer: "/foo", value: ["bar", "baz"] },
    { pointer: "/foo/0", value: "bar" },
    { pointer: "/", value: 0 },
    { pointer: "/a~1b", value: 1 },
    { pointer: "/c%d", value: 2 },
    { pointer: "/e^f", value: 3 },
    { pointer: "/g|h", value: 4 },
    { pointer: "/i\\j", value: 5 },
    { pointer: '/k"l', value: 6 },
    { pointer: "/ ", value: 7 },
    { pointer: "/m~0n", value: 8 },
  ])("$pointer", ({ pointer, value }) => {
    const tokens = parsePointer(pointer);
    if (!tokens.ok) throw new Error(tokens.error);
    expect(valueAt(document, tokens.value)).toEqual(value);
    expect(formatPointer(tokens.value)).toBe(pointer);
  });
});

test.each([
  { tokens: ["~01"], pointer: "/~001", case: "unescapes each sequence once" },
  { tokens: ["~1"], pointer: "/~01", case: "tilde before 1" },
])("$pointer: $case", ({ tokens, pointer }) => {
  expect(formatPointer(tokens)).toBe(pointer);
  expect(parsePointer(pointer)).toEqual({ ok: true, value: tokens });
});

test.each(["a", "a/b", "/~", "/~2", "/a~"])("refuses %j", (pointer) => {
  expect(parsePointer(pointer)).toMatchObject({ ok: false, error: expect.stringContaining(pointer) });
});

test("finds only existing values", () => {
  const value = { list: [1, 2], text: "abc", none: null };
  const paths = [
    ["list", "2"],
    ["list", "-"],
    ["list", "01"],
    ["list", "length"],
    ["text", "0"],
    ["text", "length"],
    ["none", "a"],
    ["__proto__"],
    ["constructor", "name"],
    ["x"],
  ];
  expect(paths.map((tokens) => valueAt(value, tokens))).toEqual(paths.map(() => undefined));
  expect(valueAt(value, ["none"])).toBeNull();
  expect(valueAt(JSON.parse('{"__proto__":{"a":1}}'), ["__proto__", "a"])).toBe(1);
});

test.each([
  { token: "0", length: 1, index: 0 },
  { token: "10", length: 11, index: 10 },
  { token: "1", length: 1, index: undefined },
  { token: "-1", length: 1, index: undefined },
  { token: "00", length: 1, index: undefined },
  { token: "1e0", length: 9, index: undefined },
  { token: "", length: 1, index: undefined },
])("resolves $token in an array of $length to $index", ({ token, length, index }) => {
  expect(arrayIndex(token, length)).toBe(index);
});

test("format and parse are inverse for any names", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.stringMatching(/^[~/01]*$/))), (tokens) => {
      expect(parsePointer(formatPointer(tokens))).toEqual({ ok: true, value: tokens });
    }),
  );
});
