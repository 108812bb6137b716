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

test("prose and defaults that are Go's are left out, real defaults stay", () => {
  expect(schemas.get("Port")).toEqual({
    type: "object",
    properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" } },
  });
});

test("a recursive type is the same object again", () => {
  expect(tree.properties!["children"]!.items).toBe(tree);
  expect(tree.properties!["port"]).toBe(schemas.get("Port"));
});

test("what is said beside a reference is added to a copy", () => {
  expect(tree.properties!["atomic"]).toEqual({ ...schemas.get("Port"), "x-kubernetes-map-type": "atomic" });
  expect(schemas.get("Port")).not.toHaveProperty("x-kubernetes-map-type");
});

test("int-or-string has its own word", () => {
  expect(tree.properties!["amounts"]!.additionalProperties).toEqual({ "x-kubernetes-int-or-string": true });
});

test("anything else has no schemas", () => {
  expect(openApiSchemas({}).size).toBe(0);
});
