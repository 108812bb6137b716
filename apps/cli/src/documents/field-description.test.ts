import { openApiDocument } from "@oaas/contracts/rest";
import { describe, expect, it } from "vitest";
import type { Schemas } from "./json-schema.ts";
import { describeField, isFieldPath, type FieldDescription } from "./field-description.ts";

const schemas = (openApiDocument("") as unknown as { components: { schemas: Schemas } }).components.schemas;

/** All fields below a path. */
function allBelow(path: string): readonly FieldDescription[] {
  const field = describeField(path, schemas);
  return [field, ...field.fields.flatMap((each) => (path.split(".").length > 4 ? [] : allBelow(each.path)))];
}

describe("field descriptions", () => {
  it.each(["package", "class", "function", "deployment", "cluster", "event"])(
    "every field of a %s has a description",
    (kind) => {
      const silent = allBelow(kind).filter(({ description }) => description === "");
      expect(silent.map(({ path }) => path)).toEqual([]);
    },
  );

  it("lists type, required, allowed values and nested fields", () => {
    const field = describeField("package.classes.function_bindings", schemas);
    expect(field).toMatchObject({ type: "list of object", isRequired: false });
    expect(field.fields.find(({ path }) => path.endsWith(".access_modifier"))?.allowed).toContain("PUBLIC");
    expect(describeField("deployment.nfr_requirements.availability", schemas)).toMatchObject({
      type: "number",
      allowed: ["0 to 1"],
      fields: [],
    });
    expect(describeField("function.config", schemas).type).toBe("map of string");
    expect(describeField("deployment.package_name", schemas)).toMatchObject({
      description: schemas["DeploymentRequest"]?.properties?.["package_name"]?.description,
      allowed: ["a package name"],
    });
    expect(describeField("package.name", schemas).allowed, "a description is not a format").toEqual([]);
  });

  it("rejects an unknown field and names the parent", () => {
    expect(() => describeField("package.clases", schemas)).toThrow(/package has no field "clases"/);
    expect(() => describeField("package.name.first", schemas)).toThrow(/package\.name has no field "first"/);
  });

  it("distinguishes field paths from deployment keys", () => {
    expect(isFieldPath("package.classes")).toBe(true);
    expect(isFieldPath("shop-order")).toBe(false);
  });
});
