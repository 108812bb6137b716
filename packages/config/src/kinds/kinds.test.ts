import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteSizeKind, showByteSize } from "./byte-size.ts";
import { clientNamesKind, reporterNamesKind } from "./client-names.ts";
import { keyValuesKind, listKind } from "./compound-kinds.ts";
import { durationKind, showDuration } from "./duration.ts";
import type { Kind } from "./kind.ts";
import { boolKind, floatKind, intKind, oneOfKind, pathKind, portKind, stringKind, urlKind } from "./scalar-kinds.ts";
import { logLevelKind } from "../schema/standard-variables.ts";

/** Any sequence of UTF-16 code units, including lone surrogates and control characters. */
const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) });

const INVALID = Symbol("invalid");
const read = (kind: Kind<unknown, never>, text: string): unknown => {
  const parsed = kind.parse(text);
  return parsed.ok ? parsed.value : INVALID;
};

const level = oneOfKind(["json", "plain"], { pretty: "plain" });
const name = stringKind({ pattern: /^[a-z]+$/, patternName: "lower-case letters" });
const clients = clientNamesKind(["viewer", "admin"]);
const bounded = durationKind({ min: "1s", max: "1h", bare: "ms" });

test.each<[string, Kind<unknown, never>, string, unknown]>([
  ["keeps a text unchanged", stringKind(), " a ", " a "],
  ["text that does not match the pattern", name, "A", INVALID],
  ["ignores spaces around a number", intKind(), " 42 ", 42],
  ["not a number", intKind(), "4x", INVALID],
  ["hexadecimal", intKind(), "0x10", INVALID],
  ["fraction in a whole number", intKind(), "1.0", INVALID],
  ["beyond exact integers", intKind(), "9007199254740993", INVALID],
  ["minimum", intKind({ min: 1, max: 3 }), "1", 1],
  ["below the minimum", intKind({ min: 1, max: 3 }), "0", INVALID],
  ["above the maximum", intKind({ min: 1, max: 3 }), "4", INVALID],
  ["exponent", floatKind(), "1.5e3", 1500],
  ["infinity", floatKind(), "Infinity", INVALID],
  ["too large to hold", floatKind(), "1e999", INVALID],
  ["NaN", floatKind(), "NaN", INVALID],
  ["yes", boolKind(), "Yes", true],
  ["0", boolKind(), "0", false],
  ["unknown boolean", boolKind(), "maybe", INVALID],
  ["a free port", portKind(), "0", 0],
  ["port out of range", portKind(), "65536", INVALID],
  ["a negative port", portKind(), "-1", INVALID],
  ["option in another case", level, "JSON", "json"],
  ["a synonym", level, "pretty", "plain"],
  ["not in the list", level, "xml", INVALID],
  ["keeps a URL unchanged", urlKind(), "http://a:1/", "http://a:1/"],
  ["a URL without a scheme", urlKind(), "localhost:2379", INVALID],
  ["another scheme", urlKind(), "ftp://a", INVALID],
  ["a configured scheme", urlKind(["etcd"]), "etcd://a", "etcd://a"],
  ["a path", pathKind(), "/a b", "/a b"],
  ["a path with NUL", pathKind(), "/a\0b", INVALID],
  ["drops empty list items", listKind(), "a, b,,", ["a", "b"]],
  ["a list of numbers", listKind(intKind()), "1,2", [1, 2]],
  ["list with an invalid item", listKind(intKind()), "1,x", INVALID],
  ["pairs", keyValuesKind(), "a=1, b = x=y,", { a: "1", b: "x=y" }],
  ["key without =", keyValuesKind(), "a", INVALID],
  ["empty key", keyValuesKind(), "=1", INVALID],
  ["duplicate key", keyValuesKind(), "a=1,a=2", INVALID],
  ["number in the declared unit", durationKind({ bare: "s" }), "120", 120_000],
  ["a unit overrides the declared unit", durationKind({ bare: "s" }), "10m", 600_000],
  ["several units", durationKind(), "1h30m", 5_400_000],
  ["a fraction", durationKind(), "1.5s", 1500],
  ["a bare number without a declared unit", durationKind(), "10", INVALID],
  ["zero without a unit", durationKind(), "0", 0],
  ["a negative duration", durationKind(), "-1s", INVALID],
  ["shorter than allowed", bounded, "999", INVALID],
  ["longer than allowed", bounded, "61m", INVALID],
  ["plain bytes", byteSizeKind(), "52428800", 52_428_800],
  ["binary", byteSizeKind(), "50MiB", 52_428_800],
  ["Kubernetes spelling", byteSizeKind(), "50Mi", 52_428_800],
  ["decimal", byteSizeKind(), "1.5 GB", 1_500_000_000],
  ["unknown unit", byteSizeKind(), "5X", INVALID],
  ["too many bytes", byteSizeKind({ max: "1KiB" }), "1025", INVALID],
  ["too few bytes", byteSizeKind({ min: "1KiB" }), "1023", INVALID],
  ["beyond exact integers", byteSizeKind(), "99999999T", INVALID],
  ["a level", logLevelKind(), "Debug", "debug"],
  ["RUST_LOG: the level without target", logLevelKind(), "hyper=warn,debug", "debug"],
  ["RUST_LOG: only targets", logLevelKind(), "oprc_crm=trace,hyper=off", "trace"],
  ["unknown level", logLevelKind(), "loud", INVALID],
  [
    "certificate names with roles",
    clients,
    "CN:pm=admin, DNS:PM.Oaas=viewer ,URI:https://a/?b=c=admin,*=viewer",
    [
      { name: "CN:pm", role: "admin" },
      { name: "DNS:pm.oaas", role: "viewer" },
      { name: "URI:https://a/?b=c", role: "admin" },
      { name: "*", role: "viewer" },
    ],
  ],
  ["certificate names: a name without its type", clients, "pm=admin", INVALID],
  ["certificate names: no role", clients, "CN:pm", INVALID],
  ["certificate names: an unknown role", clients, "CN:pm=root", INVALID],
  ["certificate names: none", clients, " , ", INVALID],
  [
    "certificate names with clusters",
    reporterNamesKind,
    "CN:oprc-crm=local, DNS:CRM.edge=edge-1,URI:spiffe://a/?b=c=hub",
    [
      { name: "CN:oprc-crm", cluster: "local" },
      { name: "DNS:crm.edge", cluster: "edge-1" },
      { name: "URI:spiffe://a/?b=c", cluster: "hub" },
    ],
  ],
  ["reporters: every certificate", reporterNamesKind, "*=local", INVALID],
  ["reporters: no cluster", reporterNamesKind, "CN:oprc-crm", INVALID],
  ["reporters: an invalid cluster", reporterNamesKind, "CN:oprc-crm=Edge 1", INVALID],
  ["reporters: one name for two clusters", reporterNamesKind, "DNS:crm=east,DNS:CRM=west", INVALID],
])("%s", (_why, kind, text, want) => {
  expect(read(kind, text)).toEqual(want);
});

describe("format and parse", () => {
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

test("no kind throws for any text", () => {
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
    clients,
    reporterNamesKind,
  ];
  fc.assert(
    fc.property(fc.constantFrom(...kinds), anyText, (kind, text) => {
      const parsed = kind.parse(text);
      if (parsed.ok) expect(kind.parse(kind.show(parsed.value))).toEqual(parsed);
    }),
  );
});
