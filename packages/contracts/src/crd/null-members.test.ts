import { describe, expect, test } from "vitest";
import { z } from "zod";
import { absentNulls, allowNullMembers } from "./null-members.ts";

describe("allowNullMembers", () => {
  test("an optional member may be null, a required one and one with a default may not", () => {
    const schema = allowNullMembers({
      type: "object",
      required: ["must"],
      properties: {
        must: { type: "string" },
        may: { type: "array", items: { type: "object", properties: { deep: { type: "boolean" } } } },
        has: { type: "integer", default: 1 },
        word: { type: "string", enum: ["a"] },
      },
    });
    expect(schema.properties).toEqual({
      must: { type: "string" },
      may: {
        type: "array",
        nullable: true,
        items: { type: "object", properties: { deep: { type: "boolean", nullable: true } } },
      },
      has: { type: "integer", default: 1 },
      word: { type: "string", enum: ["a", null], nullable: true },
    });
  });
});

describe("absentNulls", () => {
  const schema = absentNulls(z.object({ a: z.string().optional(), b: z.array(z.looseObject({})).optional() }));

  test("null members are absent, however deep", () => {
    expect(schema.parse({ a: null, b: [{ c: null, d: 0, e: "", f: false }] })).toEqual({
      b: [{ d: 0, e: "", f: false }],
    });
  });

  test("a null item of a list is a mistake", () => {
    expect(schema.safeParse({ b: [null] }).success).toBe(false);
  });
});
