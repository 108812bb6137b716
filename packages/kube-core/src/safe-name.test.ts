import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isValidName, NAME_RULES, type NameKind } from "./names.ts";
import { safeName } from "./safe-name.ts";

const KINDS = Object.keys(NAME_RULES) as NameKind[];

describe("keeps golden names, which exist in clusters", () => {
  test.each<{ parts: string[]; kind?: NameKind; maxLength?: number; name: string; case: string }>([
    { parts: ["web"], name: "web", case: "already valid" },
    { parts: ["my-class", "gateway"], name: "my-class-gateway", case: "dash in the first part only" },
    { parts: ["a", "b-c"], name: "a-b-c-m012ds53b1vn", case: "ambiguous with a-b and c" },
    { parts: ["Web"], name: "web-csdemf7dm76c", case: "lower-cased" },
    { parts: ["web_1"], name: "web-1-drmpdhbjf7wy", case: "replaced" },
    { parts: ["", "web"], name: "web-kxx277cy6ybq", case: "empty part" },
    { parts: [], name: "x-9x9wv8cc5en0", case: "empty input" },
    { parts: ["ünï"], name: "n-zb760bxpy5h2", case: "letters not allowed in DNS names" },
    { parts: ["日本"], name: "x-7ksq64a8s55f", case: "no allowed letters" },
    { parts: ["a".repeat(70)], name: `${"a".repeat(50)}-5pqj25ka46jc`, case: "truncated, with a hash" },
    { parts: ["1web"], kind: "dns-1035-label", name: "x1web-t0jt3bbpkqqq", case: "must start with a letter" },
    {
      parts: ["a..b", "C"],
      kind: "dns-1123-subdomain",
      name: "a.b-c-fddkha71f8gb",
      case: "no empty label between dots",
    },
    { parts: ["A_b", "c"], kind: "label-value", name: "A_b-c", case: "valid as a label value" },
    { parts: ["a".repeat(40)], maxLength: 20, name: "aaaaaaa-jm0v5r85v1g3", case: "less room" },
  ])("$parts $kind: $case", ({ parts, kind, maxLength, name }) => {
    const options = { ...(kind === undefined ? {} : { kind }), ...(maxLength === undefined ? {} : { maxLength }) };
    expect(safeName(parts, options)).toBe(name);
  });
});

test("rejects a length without room for the hash", () => {
  expect(() => safeName(["a"], { maxLength: 15 })).toThrow(RangeError);
  expect(() => safeName(["a"], { maxLength: Number.NaN })).toThrow(RangeError);
});

describe("properties", () => {
  const part = fc.oneof(
    fc.stringMatching(/^[a-z0-9-]{0,40}$/),
    fc.string({ unit: "grapheme", maxLength: 80 }),
    fc.string({ unit: "binary", maxLength: 10 }),
    fc.constantFrom("-", ".", "..", "_", "A", "a", "__proto__", "-a-", "a.-b", "\uD800", "\uDC00"),
  );
  const parts = fc.array(part, { maxLength: 4 });
  const options = fc.record({ kind: fc.constantFrom(...KINDS), maxLength: fc.integer({ min: 16, max: 300 }) });

  test("is valid, bounded in length and deterministic", () => {
    fc.assert(
      fc.property(parts, options, (parts, options) => {
        const name = safeName(parts, options);
        expect(name).not.toBe("");
        expect(isValidName(options.kind, name)).toBe(true);
        expect(name.length).toBeLessThanOrEqual(options.maxLength);
        expect(safeName([...parts], { ...options })).toBe(name);
      }),
      { numRuns: 3000 },
    );
  });

  test("leaves a single short valid part unchanged, so safe names are stable", () => {
    fc.assert(
      fc.property(parts, options, (parts, options) => {
        const name = safeName(parts, options);
        expect(safeName([name], options)).toBe(name);
      }),
    );
  });

  test("gives different names to different lists of the same length", () => {
    const close = fc
      .array(fc.constantFrom("a", "A", "-", "_", ".", "b", "é", ""), { maxLength: 4 })
      .map((units) => units.join(""));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(close, close), { minLength: 2, maxLength: 300 }),
        fc.constantFrom(...KINDS),
        (lists, kind) => {
          const inputs = new Set(lists.map((list) => JSON.stringify(list)));
          const names = new Set(lists.map((list) => safeName(list, { kind })));
          expect(names.size).toBe(inputs.size);
        },
      ),
    );
  });

  test("keeps 50,000 long names distinct that differ only in the truncated part", () => {
    const names = new Set<string>();
    const head = "a".repeat(60);
    for (let index = 0; index < 50_000; index += 1) names.add(safeName([`${head}${index}`]));
    expect(names.size).toBe(50_000);
  });
});
