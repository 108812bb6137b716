import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteSizeKind, showByteSize } from "./byte-size.ts";
import { keyValuesKind, listKind } from "./compound-kinds.ts";
import { durationKind, showDuration } from "./duration.ts";
import type { Kind } from "./kind.ts";
import { boolKind, floatKind, intKind, oneOfKind, pathKind, portKind, stringKind, urlKind } from "./scalar-kinds.ts";
import { logLevelKind } from "../schema/standard-variables.ts";

/** Any sequence of UTF-16 units, lone surrogates and control characters included. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

const REFUSED = Symbol("refused");
const read = (kind: Kind<unknown, never>, text: string): unknown => {
  const parsed = kind.parse(text);
  return parsed.ok ? parsed.value : REFUSED;
};

const level = oneOfKind(["json", "plain"], { pretty: "plain" });
const name = stringKind({ pattern: /^[a-z]+$/, patternName: "lower-case letters" });
const bounded = durationKind({ min: "1s", max: "1h", bare: "ms" });

test.each<[string, Kind<unknown, never>, string, unknown]>([
  ["text is kept as it is", stringKind(), " a ", " a "],
  ["a pattern refuses", name, "A", REFUSED],
  ["spaces around a number do not count", intKind(), " 42 ", 42],
  ["no number", intKind(), "4x", REFUSED],
  ["hexadecimal is no surprise", intKind(), "0x10", REFUSED],
  ["no fraction in a whole number", intKind(), "1.0", REFUSED],
  ["beyond exact integers", intKind(), "9007199254740993", REFUSED],
  ["at the least", intKind({ min: 1, max: 3 }), "1", 1],
  ["below the least", intKind({ min: 1, max: 3 }), "0", REFUSED],
  ["above the greatest", intKind({ min: 1, max: 3 }), "4", REFUSED],
  ["exponent", floatKind(), "1.5e3", 1500],
  ["infinity is no number", floatKind(), "Infinity", REFUSED],
  ["too large to hold", floatKind(), "1e999", REFUSED],
  ["NaN", floatKind(), "NaN", REFUSED],
  ["yes", boolKind(), "Yes", true],
  ["0", boolKind(), "0", false],
  ["a bool is not guessed", boolKind(), "maybe", REFUSED],
  ["a free port", portKind(), "0", 0],
  ["beyond the ports", portKind(), "65536", REFUSED],
  ["a negative port", portKind(), "-1", REFUSED],
  ["any letter case", level, "JSON", "json"],
  ["a synonym", level, "pretty", "plain"],
  ["not in the list", level, "xml", REFUSED],
  ["a URL as written", urlKind(), "http://a:1/", "http://a:1/"],
  ["a URL without a scheme", urlKind(), "localhost:2379", REFUSED],
  ["another scheme", urlKind(), "ftp://a", REFUSED],
  ["a scheme that was asked for", urlKind(["etcd"]), "etcd://a", "etcd://a"],
  ["a path", pathKind(), "/a b", "/a b"],
  ["a path with NUL", pathKind(), "/a\0b", REFUSED],
  ["a list drops empty places", listKind(), "a, b,,", ["a", "b"]],
  ["a list of numbers", listKind(intKind()), "1,2", [1, 2]],
  ["one bad item refuses the list", listKind(intKind()), "1,x", REFUSED],
  ["pairs", keyValuesKind(), "a=1, b = x=y,", { a: "1", b: "x=y" }],
  ["a key without value sign", keyValuesKind(), "a", REFUSED],
  ["no key", keyValuesKind(), "=1", REFUSED],
  ["a key twice", keyValuesKind(), "a=1,a=2", REFUSED],
  ["seconds by default where declared", durationKind({ bare: "s" }), "120", 120_000],
  ["a unit wins over the bare one", durationKind({ bare: "s" }), "10m", 600_000],
  ["several units", durationKind(), "1h30m", 5_400_000],
  ["a fraction", durationKind(), "1.5s", 1500],
  ["a bare number without a declared unit", durationKind(), "10", REFUSED],
  ["zero needs no unit", durationKind(), "0", 0],
  ["a negative duration", durationKind(), "-1s", REFUSED],
  ["shorter than allowed", bounded, "999", REFUSED],
  ["longer than allowed", bounded, "61m", REFUSED],
  ["plain bytes", byteSizeKind(), "52428800", 52_428_800],
  ["binary", byteSizeKind(), "50MiB", 52_428_800],
  ["Kubernetes spelling", byteSizeKind(), "50Mi", 52_428_800],
  ["decimal", byteSizeKind(), "1.5 GB", 1_500_000_000],
  ["no such unit", byteSizeKind(), "5X", REFUSED],
  ["too many bytes", byteSizeKind({ max: "1KiB" }), "1025", REFUSED],
  ["too few bytes", byteSizeKind({ min: "1KiB" }), "1023", REFUSED],
  ["beyond exact integers", byteSizeKind(), "99999999T", REFUSED],
  ["a level", logLevelKind(), "Debug", "debug"],
  ["RUST_LOG: the level without target", logLevelKind(), "hyper=warn,debug", "debug"],
  ["RUST_LOG: only targets", logLevelKind(), "oprc_crm=trace,hyper=off", "trace"],
  ["no level", logLevelKind(), "loud", REFUSED],
])("%s", (_why, kind, text, want) => {
  expect(read(kind, text)).toEqual(want);
});

describe("showing and reading back", () => {
  test("durations", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 12 }), (ms) => {
        expect(read(durationKind(), showDuration(ms))).toBe(ms);
      }),
    );
  });

  test("sizes", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), fc.constantFrom(1, 1024, 1024 ** 2), (count, unit) => {
        const bytes = Math.floor(count / unit) * unit;
        expect(read(byteSizeKind(), showByteSize(bytes))).toBe(bytes);
      }),
    );
  });
});

test("no kind throws on any text", () => {
  const kinds: readonly Kind<unknown, never>[] = [
    intKind(),
    floatKind(),
    boolKind(),
    portKind(),
    level,
    urlKind(),
    pathKind(),
    listKind(intKind()),
    keyValuesKind(),
    durationKind({ bare: "s" }),
    byteSizeKind(),
    logLevelKind(),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...kinds), anyText, (kind, text) => {
      const parsed = kind.parse(text);
      if (parsed.ok) expect(kind.parse(kind.show(parsed.value))).toEqual(parsed);
    }),
  );
});
