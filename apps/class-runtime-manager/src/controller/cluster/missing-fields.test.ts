import { KINDS, rootSchema, type StructuralSchema } from "@oaas/contracts/crd";
import { describe, expect, test } from "vitest";
import { missingFields, type FieldSchema } from "./missing-fields.ts";

const text: StructuralSchema = { type: "string" };
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: "object", properties });
const list = (items: StructuralSchema): StructuralSchema => ({ type: "array", items });

describe("fields that a served schema does not have", () => {
  test.each<[string, StructuralSchema, FieldSchema, string[]]>([
    ["none", object({ a: text }), object({ a: text, later: text }), []],
    ["a field", object({ a: text, b: text }), object({ a: text }), ["spec.b"]],
    ["only the upper one of two", object({ a: object({ b: text }) }), object({}), ["spec.a"]],
    ["in an object", object({ a: object({ b: text }) }), object({ a: object({}) }), ["spec.a.b"]],
    ["in a list", object({ a: list(object({ b: text })) }), object({ a: list(object({})) }), ["spec.a[*].b"]],
    [
      "in a map",
      { type: "object", additionalProperties: object({ b: text }) },
      { additionalProperties: object({}) },
      ["spec['*'].b"],
    ],
    ["in an object that keeps all fields", object({ a: text }), { "x-kubernetes-preserve-unknown-fields": true }, []],
    ["in an object that was a map", object({ a: text }), { additionalProperties: text }, []],
    ["in an object with no more fields", object({ a: text }), { additionalProperties: false }, ["spec.a"]],
  ])("lists %s", (_, expected, served, missing) => {
    expect(missingFields(expected, served, "spec")).toEqual(missing);
  });

  test.each(KINDS.map((definition) => [definition.kind, definition] as const))("%s has its own", (_, definition) => {
    const schema = rootSchema(definition);
    expect(missingFields(schema, schema, "$")).toEqual([]);
  });
});
