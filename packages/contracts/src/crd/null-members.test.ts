import { describe, expect, test } from "vitest";
import { z } from "zod";
import { absentNulls, allowNullMembers } from "./null-members.ts";

describe("allowNullMembers", () => {
  test("allows null for optional fields without a default only", () => {
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

  test("removes null fields at any depth", () => {
    expect(schema.parse({ a: null, b: [{ c: null, d: 0, e: "", f: false }] })).toEqual({
      b: [{ d: 0, e: "", f: false }],
    });
  });

  test("keeps null list items", () => {
    expect(schema.safeParse({ b: [null] }).success).toBe(false);
  });
});
