import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/patches.json" with { type: "json" };
import { equalJson } from "@oaas/foundation";
import { applyJsonPatch, jsonPatchFault, type JsonPatch } from "./json-patch.ts";

describe("RFC 6902 appendix A examples", () => {
  test.each<{ title: string; document: unknown; patch: unknown[]; result: unknown }>([
    {
      title: "A.1 adding a member",
      document: { foo: "bar" },
      patch: [{ op: "add", path: "/baz", value: "qux" }],
      result: { baz: "qux", foo: "bar" },
    },
    {
      title: "A.2 adding an item",
      document: { foo: ["bar", "baz"] },
      patch: [{ op: "add", path: "/foo/1", value: "qux" }],
      result: { foo: ["bar", "qux", "baz"] },
    },
    {
      title: "A.3 removing a member",
      document: { baz: "qux", foo: "bar" },
      patch: [{ op: "remove", path: "/baz" }],
      result: { foo: "bar" },
    },
    {
      title: "A.4 removing an item",
      document: { foo: ["bar", "qux", "baz"] },
      patch: [{ op: "remove", path: "/foo/1" }],
      result: { foo: ["bar", "baz"] },
    },
    {
      title: "A.5 replacing a value",
      document: { baz: "qux", foo: "bar" },
      patch: [{ op: "replace", path: "/baz", value: "boo" }],
      result: { baz: "boo", foo: "bar" },
    },
    {
      title: "A.6 moving a value",
      document: { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
      patch: [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
      result: { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
    },
    {
      title: "A.7 moving an item",
      document: { foo: ["all", "grass", "cows", "eat"] },
      patch: [{ op: "move", from: "/foo/1", path: "/foo/3" }],
      result: { foo: ["all", "cows", "eat", "grass"] },
    },
    {
      title: "A.8 testing a value: success",
      document: { baz: "qux", foo: ["a", 2, "c"] },
      patch: [
        { op: "test", path: "/baz", value: "qux" },
        { op: "test", path: "/foo/1", value: 2 },
      ],
      result: { baz: "qux", foo: ["a", 2, "c"] },
    },
    {
      title: "A.10 adding a nested member",
      document: { foo: "bar" },
      patch: [{ op: "add", path: "/child", value: { grandchild: {} } }],
      result: { foo: "bar", child: { grandchild: {} } },
    },
    {
      title: "A.11 unknown members are ignored",
      document: { foo: "bar" },
      patch: [{ op: "add", path: "/baz", value: "qux", xyz: 123 }],
      result: { foo: "bar", baz: "qux" },
    },
    {
      title: "A.14 escaping",
      document: { "/": 9, "~1": 10 },
      patch: [{ op: "test", path: "/~01", value: 10 }],
      result: { "/": 9, "~1": 10 },
    },
    {
      title: "A.16 adding an array",
      document: { foo: ["bar"] },
      patch: [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
      result: { foo: ["bar", ["abc", "def"]] },
    },
  ])("$title", ({ document, patch, result }) => {
    expect(applyJsonPatch(frozen(document), patch)).toEqual({ ok: true, value: result });
  });

  test.each([
    {
      title: "A.9 testing a value: error",
      document: { baz: "qux" },
      patch: [{ op: "test", path: "/baz", value: "bar" }],
      reason: "test",
      path: "/baz",
    },
    {
      title: "A.12 adding below a missing member",
      document: { foo: "bar" },
      patch: [{ op: "add", path: "/baz/bat", value: "qux" }],
      reason: "missing",
      path: "/baz/bat",
    },
    {
      title: "A.15 comparing strings and numbers",
      document: { "~1": 10 },
      patch: [{ op: "test", path: "/~01", value: "10" }],
      reason: "test",
      path: "/~01",
    },
  ])("$title", ({ document, patch, reason, path }) => {
    expect(applyJsonPatch(document, patch)).toMatchObject({ ok: false, error: { reason, path, index: 0 } });
  });

  test("A.13 duplicate member: the JSON parser keeps the last one", () => {
    const patch: unknown = JSON.parse('[{"op":"add","path":"/baz","value":"qux","op":"remove"}]');
    expect(applyJsonPatch({ foo: "bar" }, patch as unknown[])).toMatchObject({
      ok: false,
      error: { reason: "missing" },
    });
  });
});

describe("matches the Kubernetes JSON patch library", () => {
  test.each(oracle.rows.json.map(([target, operations, result]) => ({ target, operations, result })))(
    "$operations",
    ({ target, operations, result }) => {
      const applied = applyJsonPatch(target, operations as unknown[]);
      expect(applied.ok ? applied.value : "refused").toEqual(result);
    },
  );
});

test("leaves the document unchanged when a value moves to its own location", () => {
  expect(applyJsonPatch({ a: 1 }, [{ op: "move", from: "/a", path: "/a" }])).toEqual({ ok: true, value: { a: 1 } });
});

describe("errors", () => {
  const document = { a: [1], s: "text", n: null };
  test.each<{ operation: unknown; reason: string; path: string; case: string }>([
    { operation: { op: "remove", path: "/x" }, reason: "missing", path: "/x", case: "remove of a missing member" },
    {
      operation: { op: "replace", path: "/x", value: 1 },
      reason: "missing",
      path: "/x",
      case: "replace of a missing member",
    },
    { operation: { op: "add", path: "/a/2", value: 1 }, reason: "missing", path: "/a/2", case: "index beyond the end" },
    {
      operation: { op: "replace", path: "/a/-", value: 1 },
      reason: "missing",
      path: "/a/-",
      case: "append marker is not a readable index",
    },
    { operation: { op: "remove", path: "/a/01" }, reason: "missing", path: "/a/01", case: "index with a leading zero" },
    {
      operation: { op: "add", path: "/a/-1", value: 1 },
      reason: "missing",
      path: "/a/-1",
      case: "negative index",
    },
    { operation: { op: "add", path: "/s/0", value: 1 }, reason: "missing", path: "/s/0", case: "index into a string" },
    { operation: { op: "add", path: "/n/x", value: 1 }, reason: "missing", path: "/n/x", case: "member of null" },
    {
      operation: { op: "test", path: "/x", value: 1 },
      reason: "missing",
      path: "/x",
      case: "test of a missing member",
    },
    {
      operation: { op: "copy", from: "/x", path: "/y" },
      reason: "missing",
      path: "/x",
      case: "copy of a missing member",
    },
    {
      operation: { op: "move", from: "/x", path: "/y" },
      reason: "missing",
      path: "/x",
      case: "move of a missing member",
    },
    { operation: { op: "move", from: "/a", path: "/a/0" }, reason: "malformed", path: "/a/0", case: "into itself" },
    { operation: { op: "remove", path: "" }, reason: "malformed", path: "", case: "whole document" },
    { operation: { op: "add", path: "/x" }, reason: "malformed", path: "/x", case: "no value" },
    { operation: { op: "grow", path: "/x" }, reason: "malformed", path: "/x", case: "unknown operation" },
    { operation: { op: "add", path: "x", value: 1 }, reason: "malformed", path: "x", case: "no pointer" },
    { operation: { op: "add", value: 1 }, reason: "malformed", path: "", case: "no path" },
    { operation: { op: "copy", path: "/x" }, reason: "malformed", path: "", case: "no from" },
    { operation: null, reason: "malformed", path: "", case: "no operation" },
    {
      operation: Object.create({ op: "remove", path: "/a" }),
      reason: "malformed",
      path: "",
      case: "inherited property",
    },
  ])("$case", ({ operation, reason, path }) => {
    expect(applyJsonPatch(document, [{ op: "test", path: "/s", value: "text" }, operation])).toMatchObject({
      ok: false,
      error: { reason, path, index: 1 },
    });
  });

  test("returns a fault that names the operation and the path", () => {
    const missing = jsonPatchFault({ reason: "missing", index: 2, path: "/x", message: 'nothing exists at "/x"' });
    expect([missing.kind, missing.violations, missing.context]).toEqual([
      "invalid-argument",
      [{ path: "$[2]", message: 'nothing exists at "/x"' }],
      { reason: "missing", index: 2, path: "/x" },
    ]);
    const test = jsonPatchFault({ reason: "test", index: 0, path: "/x", message: '"/x" has another value' });
    expect([test.kind, test.message]).toEqual([
      "failed-precondition",
      'operation 0 of the patch: "/x" has another value',
    ]);
  });
});

describe("treats JavaScript property names such as __proto__ as plain names", () => {
  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])("%s", (name) => {
    const patch: JsonPatch = [
      { op: "add", path: `/${name}`, value: { polluted: true } },
      { op: "add", path: `/${name}/more`, value: 1 },
    ];
    const result = applyJsonPatch({ a: 1 }, patch);
    expect(JSON.stringify(result)).toBe(
      JSON.stringify({ ok: true, value: JSON.parse(`{"a":1,"${name}":{"polluted":true,"more":1}}`) }),
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.prototype).not.toHaveProperty("more");
    for (const op of ["remove", "replace", "test"]) {
      expect(applyJsonPatch({ a: 1 }, [{ op, path: `/${name}`, value: 1 }])).toMatchObject({
        ok: false,
        error: { reason: "missing" },
      });
    }
    expect(applyJsonPatch({ a: 1 }, [{ op: "add", path: `/${name}/x`, value: 1 }]).ok).toBe(false);
  });
});

describe("properties", () => {
  test("does not mutate the input, and a test of an added value succeeds", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), (other, name, value) => {
        const document = frozen({ other });
        const before = structuredClone(document);
        const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        const result = applyJsonPatch(document, [
          { op: "add", path, value },
          { op: "test", path, value },
        ]);
        expect(result.ok).toBe(true);
        expect(document).toEqual(before);
      }),
    );
  });

  test("applies or rejects any list of operations without throwing", () => {
    const operation = fc.record(
      {
        op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"),
        path: fc.stringMatching(/^(\/[a01~-]*){0,3}$/),
        from: fc.stringMatching(/^(\/[a01]*){0,3}$/),
        value: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.oneof(operation, fc.anything())), (document, patch) => {
        const before = structuredClone(document);
        applyJsonPatch(frozen(document), patch);
        expect(equalJson(document, before)).toBe(true);
      }),
    );
  });
});

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
