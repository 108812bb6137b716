import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/patches.json" with { type: "json" };
import { equalJson } from "@oaas/foundation";
import { applyMergePatch, diffMergePatch } from "./merge-patch.ts";

describe("RFC 7386 appendix A examples", () => {
  test.each<[unknown, unknown, unknown]>([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("patches %j with %j to %j", (document, patch, result) => {
    expect(applyMergePatch(document, patch)).toEqual(result);
  });

  test("applies the example of section 3", () => {
    const document = {
      title: "Goodbye!",
      author: { givenName: "John", familyName: "Doe" },
      tags: ["example", "sample"],
      content: "This will be unchanged",
    };
    const patch = { title: "Hello!", phoneNumber: "+01-123-456-7890", author: { familyName: null }, tags: ["example"] };
    expect(applyMergePatch(document, patch)).toEqual({
      title: "Hello!",
      author: { givenName: "John" },
      tags: ["example"],
      content: "This will be unchanged",
      phoneNumber: "+01-123-456-7890",
    });
  });
});

test.each(oracle.rows.merge.map(([target, patch, result]) => ({ target, patch, result })))(
  "matches the Kubernetes merge patch library: $patch",
  ({ target, patch, result }) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  },
);

describe("differences", () => {
  test.each<{ from: unknown; to: unknown; patch: unknown; case: string }>([
    { from: { a: 1 }, to: { a: 1 }, patch: {}, case: "no difference" },
    { from: { a: 1, b: 2 }, to: { b: 3 }, patch: { a: null, b: 3 }, case: "removed and changed members" },
    { from: { a: { b: 1, c: 2 } }, to: { a: { b: 1, c: 3 } }, patch: { a: { c: 3 } }, case: "changed member only" },
    { from: { a: [1, 2] }, to: { a: [1] }, patch: { a: [1] }, case: "arrays whole" },
    { from: { a: null, b: 1 }, to: { a: null, b: 2 }, patch: { b: 2 }, case: "unchanged null is omitted" },
    { from: { a: 1 }, to: { a: [null] }, patch: { a: [null] }, case: "null in an array is a value" },
    { from: { a: undefined }, to: { b: undefined }, patch: {}, case: "undefined is absent" },
    { from: { a: 1 }, to: null, patch: null, case: "document becomes null" },
    { from: [], to: {}, patch: {}, case: "array becomes an empty object" },
  ])("$case", ({ from, to, patch }) => {
    expect(diffMergePatch(from, to)).toEqual({ ok: true, value: patch });
    expect(equalJson(applyMergePatch(from, patch), to)).toBe(true);
  });

  test.each<{ from: unknown; to: unknown; path: string; case: string }>([
    { from: { a: 1 }, to: { a: null }, path: "$.a", case: "member becomes null" },
    { from: {}, to: { a: { b: null } }, path: "$.a.b", case: "new object with a null" },
    { from: { a: { "x-y": 1 } }, to: { a: { "x-y": null } }, path: "$.a['x-y']", case: "deep down" },
  ])("refused: $case", ({ from, to, path }) => {
    expect(diffMergePatch(from, to)).toMatchObject({ ok: false, error: { path } });
  });
});

test.each(["__proto__", "constructor", "prototype"])("treats %s as a plain name", (name) => {
  const patch: unknown = JSON.parse(`{"${name}":{"polluted":true}}`);
  const result = applyMergePatch({ a: 1 }, patch);
  expect(JSON.stringify(result)).toBe(`{"a":1,"${name}":{"polluted":true}}`);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(diffMergePatch({ a: 1 }, result)).toEqual({ ok: true, value: patch });
  expect(applyMergePatch(result, JSON.parse(`{"${name}":null}`))).toEqual({ a: 1 });
});

describe("properties", () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(true, 0, 1, "x", [null]),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c", "constructor"), tie("value"), { maxKeys: 3 }),
    ),
  })).value;

  test("turns the first document into the second when applied, without null members", () => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        const patch = diffMergePatch(from, to);
        if (!patch.ok) throw new Error(patch.error.path);
        expect(equalJson(applyMergePatch(from, patch.value), to)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("returns a patch exactly when one exists", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        const patch = diffMergePatch(from, to);
        if (patch.ok) expect(equalJson(applyMergePatch(from, patch.value), to)).toBe(true);
        else expect(equalJson(applyMergePatch(from, to), to)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("is idempotent and does not mutate the input", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (document, patch) => {
        const before = structuredClone(document);
        const once = applyMergePatch(document, patch);
        expect(equalJson(applyMergePatch(once, patch), once)).toBe(true);
        expect(equalJson(document, before)).toBe(true);
      }),
    );
  });
});
