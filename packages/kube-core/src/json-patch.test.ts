import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/patches.json" with { type: "json" };
import { equalJson } from "@oaas/foundation";
import { applyJsonPatch, jsonPatchFault, type JsonPatch } from "./json-patch.ts";

describe("the standard's examples (RFC 6902, appendix A)", () => {
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
      title: "A.12 adding below what is not there",
      document: { foo: "bar" },
      patch: [{ op: "add", path: "/baz/bat", value: "qux" }],
      reason: "missing",
      path: "/baz/bat",
    },
    {
      title: "A.15 strings are no numbers",
      document: { "~1": 10 },
      patch: [{ op: "test", path: "/~01", value: "10" }],
      reason: "test",
      path: "/~01",
    },
  ])("$title", ({ document, patch, reason, path }) => {
    expect(applyJsonPatch(document, patch)).toMatchObject({ ok: false, error: { reason, path, index: 0 } });
  });

  test("A.13 a member twice: the parser has kept the last, which is what counts here", () => {
    const patch: unknown = JSON.parse('[{"op":"add","path":"/baz","value":"qux","op":"remove"}]');
    expect(applyJsonPatch({ foo: "bar" }, patch as unknown[])).toMatchObject({
      ok: false,
      error: { reason: "missing" },
    });
  });
});

describe("as the library of Kubernetes does it", () => {
  test.each(oracle.rows.json.map(([target, operations, result]) => ({ target, operations, result })))(
    "$operations",
    ({ target, operations, result }) => {
      const applied = applyJsonPatch(target, operations as unknown[]);
      expect(applied.ok ? applied.value : "refused").toEqual(result);
    },
  );
});

test("moving a thing to where it is changes nothing", () => {
  expect(applyJsonPatch({ a: 1 }, [{ op: "move", from: "/a", path: "/a" }])).toEqual({ ok: true, value: { a: 1 } });
});

describe("refusals", () => {
  const document = { a: [1], s: "text", n: null };
  test.each<{ operation: unknown; reason: string; path: string; why: string }>([
    { operation: { op: "remove", path: "/x" }, reason: "missing", path: "/x", why: "nothing to remove" },
    { operation: { op: "replace", path: "/x", value: 1 }, reason: "missing", path: "/x", why: "nothing to replace" },
    { operation: { op: "add", path: "/a/2", value: 1 }, reason: "missing", path: "/a/2", why: "beyond the end" },
    {
      operation: { op: "replace", path: "/a/-", value: 1 },
      reason: "missing",
      path: "/a/-",
      why: "nothing after the end",
    },
    { operation: { op: "remove", path: "/a/01" }, reason: "missing", path: "/a/01", why: "no leading zero" },
    {
      operation: { op: "add", path: "/a/-1", value: 1 },
      reason: "missing",
      path: "/a/-1",
      why: "no counting from the end",
    },
    { operation: { op: "add", path: "/s/0", value: 1 }, reason: "missing", path: "/s/0", why: "a text has no items" },
    { operation: { op: "add", path: "/n/x", value: 1 }, reason: "missing", path: "/n/x", why: "null has no members" },
    { operation: { op: "test", path: "/x", value: 1 }, reason: "missing", path: "/x", why: "nothing to test" },
    { operation: { op: "copy", from: "/x", path: "/y" }, reason: "missing", path: "/x", why: "nothing to copy" },
    { operation: { op: "move", from: "/x", path: "/y" }, reason: "missing", path: "/x", why: "nothing to move" },
    { operation: { op: "move", from: "/a", path: "/a/0" }, reason: "malformed", path: "/a/0", why: "into itself" },
    { operation: { op: "remove", path: "" }, reason: "malformed", path: "", why: "the whole document" },
    { operation: { op: "add", path: "/x" }, reason: "malformed", path: "/x", why: "no value" },
    { operation: { op: "grow", path: "/x" }, reason: "malformed", path: "/x", why: "no such operation" },
    { operation: { op: "add", path: "x", value: 1 }, reason: "malformed", path: "x", why: "no pointer" },
    { operation: { op: "add", value: 1 }, reason: "malformed", path: "", why: "no path" },
    { operation: { op: "copy", path: "/x" }, reason: "malformed", path: "", why: "no from" },
    { operation: null, reason: "malformed", path: "", why: "no operation" },
    {
      operation: Object.create({ op: "remove", path: "/a" }),
      reason: "malformed",
      path: "",
      why: "inherited members do not count",
    },
  ])("$why", ({ operation, reason, path }) => {
    expect(applyJsonPatch(document, [{ op: "test", path: "/s", value: "text" }, operation])).toMatchObject({
      ok: false,
      error: { reason, path, index: 1 },
    });
  });

  test("a failure becomes a fault that says which operation and where", () => {
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

describe("names that mean something to JavaScript are plain names", () => {
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
  test("the input is never changed, and a test of what was added succeeds", () => {
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

  test("any list is applied or refused, never thrown at", () => {
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
