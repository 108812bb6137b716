import { CRD_FIELDS, KINDS, rootSchema, type FieldTree } from "@oaas/contracts/crd";
import { describe, expect, test } from "vitest";
import { missingFields, type FieldSchema } from "./missing-fields.ts";

const text: FieldSchema = {};
const object = (properties: Record<string, FieldSchema>): FieldSchema => ({ properties });
const list = (items: FieldSchema): FieldSchema => ({ items });
const map = (additionalProperties: FieldSchema | boolean): FieldSchema => ({ additionalProperties });

describe("fields that a served schema does not have", () => {
  test.each<[string, FieldTree, FieldSchema, string[]]>([
    ["none", { a: {} }, object({ a: text, later: text }), []],
    ["a field", { a: {}, b: {} }, object({ a: text }), [".b"]],
    ["only the upper one of two", { a: { b: {} } }, object({}), [".a"]],
    ["one in an object", { a: { b: {} } }, object({ a: object({}) }), [".a.b"]],
    ["one in a list", { a: { "[*]": { b: {} } } }, object({ a: list(object({})) }), [".a[*].b"]],
    ["one in a map", { a: { "*": { b: {} } } }, object({ a: map(object({})) }), [".a['*'].b"]],
    ["none in an object that keeps all", { a: {} }, { "x-kubernetes-preserve-unknown-fields": true }, []],
    ["none in an object that was a map", { a: {} }, map(text), []],
    ["none in an object that was a map of anything", { a: {} }, map(true), []],
    ["one in an object that allows no others", { a: {} }, map(false), [".a"]],
  ])("lists %s", (_, expected, served, missing) => {
    expect(missingFields(expected, served, "")).toEqual(missing);
  });

  test.each(KINDS)("$kind has its own", (definition) => {
    const fields = CRD_FIELDS[definition.kind] as FieldTree;
    expect(missingFields(fields, rootSchema(definition) as FieldSchema, "")).toEqual([]);
    expect(missingFields(fields, { properties: {} }, "")).toEqual([".spec", ".status"]);
  });
});
