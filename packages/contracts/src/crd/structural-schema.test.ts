import { describe, expect, test } from "vitest";
import { z } from "zod";
import { keyedList, mapOf, setList } from "./collections.ts";
import { structuralFromJson, structuralSchema } from "./structural-schema.ts";

describe("schemas with a structural form", () => {
  const forms: [why: string, schema: z.ZodType, want: object][] = [
    [
      "text with bounds",
      z.string().min(1).max(9).regex(/^a+$/),
      { type: "string", pattern: "^a+$", minLength: 1, maxLength: 9 },
    ],
    ["integers lose the bounds of JavaScript", z.int(), { type: "integer", format: "int64" }],
    [
      "integers keep their own bounds",
      z.int().min(1).max(65535),
      { type: "integer", format: "int32", minimum: 1, maximum: 65535 },
    ],
    ["a lower bound alone is not 32 bits", z.int().min(0), { type: "integer", format: "int64", minimum: 0 }],
    ["exclusive bounds are booleans", z.number().gt(0), { type: "number", minimum: 0, exclusiveMinimum: true }],
    ["times lose zod's pattern", z.iso.datetime({ offset: true }), { type: "string", format: "date-time" }],
    [
      "a word with a transform is its input",
      z.enum(["a", "A"]).transform(() => "a"),
      { type: "string", enum: ["a", "A"] },
    ],
    ["a literal is an enum of one", z.literal("a"), { type: "string", enum: ["a"] }],
    ["maps", mapOf(z.string(), 3), { type: "object", maxProperties: 3, additionalProperties: { type: "string" } }],
    ["anything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
    [
      "an open object keeps its known members and the unknown ones",
      z.looseObject({ kind: z.string() }),
      {
        type: "object",
        required: ["kind"],
        properties: { kind: { type: "string" } },
        "x-kubernetes-preserve-unknown-fields": true,
      },
    ],
    [
      "an open map",
      z.record(z.string(), z.unknown()),
      { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    ],
    ["int or text", z.union([z.int(), z.string().max(5)]), { maxLength: 5, "x-kubernetes-int-or-string": true }],
    [
      "string or object, without the keyword type",
      z.union([z.string().max(5), z.object({ name: z.string() })]),
      {
        maxLength: 5,
        anyOf: [{ not: { required: ["∅"] } }, { not: { minLength: 1_048_576 } }],
        required: ["name"],
        properties: { name: { type: "string" } },
        "x-kubernetes-preserve-unknown-fields": true,
      },
    ],
    [
      "list or object",
      z.union([z.array(z.string()).max(2), z.object({ a: z.number().optional() })]),
      {
        maxItems: 2,
        anyOf: [{ not: { minItems: 1_048_576 } }, { not: { required: ["∅"] } }],
        properties: { a: { type: "number" } },
        items: { type: "string" },
        "x-kubernetes-preserve-unknown-fields": true,
      },
    ],
    [
      "defaults of members and of whole objects",
      z.object({ a: z.object({ b: z.int32().default(1) }).prefault({}) }),
      {
        type: "object",
        properties: {
          a: {
            type: "object",
            default: {},
            properties: {
              b: { type: "integer", format: "int32", default: 1, minimum: -2147483648, maximum: 2147483647 },
            },
          },
        },
      },
    ],
    [
      "keyed lists",
      keyedList(z.object({ name: z.string() }), "name", 2),
      {
        type: "array",
        maxItems: 2,
        items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
    ],
    [
      "sets, also when optional and described",
      z.object({ a: setList(z.string(), 2).optional().describe("A.") }),
      {
        type: "object",
        properties: {
          a: {
            description: "A.",
            type: "array",
            maxItems: 2,
            items: { type: "string" },
            "x-kubernetes-list-type": "set",
          },
        },
      },
    ],
  ];

  test.each(forms)("%s", (_, schema, want) => {
    expect(structuralSchema(schema)).toEqual(want);
  });

  test("orders keywords deterministically", () => {
    const one = structuralFromJson({ maxLength: 2, type: "string", description: "d" });
    const other = structuralFromJson({ description: "d", type: "string", maxLength: 2 });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });
});

describe("rejects what the API server would reject, with the path", () => {
  const tree = z.object({
    get child() {
      return tree.optional();
    },
  });
  const refused: [why: string, schema: z.ZodType, path: string, message: RegExp][] = [
    ["a union of objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), "$", /union/],
    ["a union of text and boolean", z.object({ a: z.union([z.string(), z.boolean()]) }), "$.a", /union/],
    ["a union of two texts", z.union([z.string().max(1), z.string().min(3)]), "$", /union/],
    ["a discriminated union", z.discriminatedUnion("t", [z.object({ t: z.literal("a") })]), "$", /oneOf/],
    ["an intersection of texts", z.intersection(z.string().min(1), z.string().max(2)), "$", /allOf/],
    ["a strict object", z.strictObject({ a: z.string() }), "$", /additionalProperties: false/],
    ["members and a map at once", z.object({ a: z.string() }).catchall(z.int()), "$", /exclude each other/],
    ["a schema that contains itself", tree, "$.child", /allOf|\$ref/],
    ["a tuple", z.tuple([z.string()]), "$[*]", /union/],
    ["a format the server does not know", z.object({ a: z.email() }), "$.a", /format "email"/],
    ["a pattern that Go cannot read", z.string().regex(/^(?!a)/), "$", /RE2/],
    ["deep in a list", z.object({ a: z.array(z.strictObject({})) }), "$.a[*]", /additionalProperties/],
    ["deep in a map", z.object({ a: mapOf(z.strictObject({}), 1) }), "$.a['*']", /additionalProperties/],
    [
      "a keyed list whose key is optional",
      keyedList(z.object({ a: z.string().optional() }), "a", 1),
      "$",
      /listType map needs a/,
    ],
    ["a set of objects", setList(z.object({}) as unknown as z.ZodString, 1), "$", /scalar/],
    ["a nullable enum that does not list null", z.enum(["a"]).nullable(), "$", /null/],
    ["unknown keywords", z.string().meta({ deprecated: true }), "$", /deprecated/],
  ];

  test.each(refused)("%s", (_, schema, path, message) => {
    expect(() => structuralSchema(schema)).toThrow(
      expect.objectContaining({
        kind: "invalid-argument",
        violations: expect.arrayContaining([{ path, message: expect.stringMatching(message) }]),
      }),
    );
  });

  test.each([
    ["a reference", { $ref: "#/a" }, /\$ref/],
    ["several types", { type: ["string", "null"] }, /type/],
    ["a list of nothing", { type: "array" }, /items/],
    ["unique items", { type: "array", items: { type: "string" }, uniqueItems: true }, /uniqueItems/],
  ])("in other JSON Schema: %s", (_, json, message) => {
    expect(() => structuralFromJson(json)).toThrow(message);
  });

  test("reports all problems at once", () => {
    const schema = z.object({ a: z.strictObject({}), b: z.email() });
    expect(() => structuralSchema(schema)).toThrow(
      expect.objectContaining({
        violations: [expect.objectContaining({ path: "$.a" }), expect.objectContaining({ path: "$.b" })],
      }),
    );
  });
});
