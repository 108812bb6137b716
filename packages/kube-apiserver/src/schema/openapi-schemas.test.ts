import { expect, test } from "vitest";
import { openApiSchemas } from "./openapi-schemas.ts";

const schemas = openApiSchemas({
  components: {
    schemas: {
      Port: {
        type: "object",
        description: "prose",
        properties: { port: { type: "integer", default: 0 }, protocol: { type: "string", default: "TCP" } },
      },
      Amount: { description: "prose", format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
      Tree: {
        type: "object",
        properties: {
          children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
          port: { default: {}, allOf: [{ $ref: "#/components/schemas/Port" }], description: "prose" },
          atomic: { allOf: [{ $ref: "#/components/schemas/Port" }], "x-kubernetes-map-type": "atomic" },
          amounts: { type: "object", additionalProperties: { $ref: "#/components/schemas/Amount" } },
        },
      },
    },
  },
});
const tree = schemas.get("Tree")!;

test("drops descriptions and Go zero defaults, keeps real defaults", () => {
  expect(schemas.get("Port")).toEqual({
    type: "object",
    properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" } },
  });
});

test("resolves a recursive type to the same object", () => {
  expect(tree.properties!["children"]!.items).toBe(tree);
  expect(tree.properties!["port"]).toBe(schemas.get("Port"));
});

test("merges siblings of a reference into a copy", () => {
  expect(tree.properties!["atomic"]).toEqual({ ...schemas.get("Port"), "x-kubernetes-map-type": "atomic" });
  expect(schemas.get("Port")).not.toHaveProperty("x-kubernetes-map-type");
});

test("marks int-or-string", () => {
  expect(tree.properties!["amounts"]!.additionalProperties).toEqual({ "x-kubernetes-int-or-string": true });
});

test("returns no schemas for anything else", () => {
  expect(openApiSchemas({}).size).toBe(0);
});
