import { openApiDocument } from "@oaas/contracts/rest";
import { describe, expect, it } from "vitest";
import type { Schemas } from "./json-schema.ts";
import { explainField, isFieldPath, type FieldWords } from "./schema-words.ts";

const schemas = (openApiDocument("") as unknown as { components: { schemas: Schemas } }).components.schemas;

/** All fields below a path. */
function allBelow(path: string): readonly FieldWords[] {
  const field = explainField(path, schemas);
  return [field, ...field.fields.flatMap((each) => (path.split(".").length > 4 ? [] : allBelow(each.path)))];
}

describe("field descriptions", () => {
  it.each(["package", "class", "function", "deployment"])("every field of a %s has a description", (kind) => {
    const silent = allBelow(kind).filter(({ description }) => description === "");
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it("lists type, required, allowed values and nested fields", () => {
    const field = explainField("package.classes.function_bindings", schemas);
    expect(field).toMatchObject({ type: "list of object", isRequired: false });
    expect(field.fields.find(({ path }) => path.endsWith(".access_modifier"))?.allowed).toContain("PUBLIC");
    expect(explainField("deployment.nfr_requirements.availability", schemas)).toMatchObject({
      type: "number",
      allowed: ["0 to 1"],
      fields: [],
    });
    expect(explainField("function.config", schemas).type).toBe("map of string");
    expect(explainField("deployment.package_name", schemas)).toMatchObject({
      description: schemas["DeploymentRequest"]?.properties?.["package_name"]?.description,
      allowed: ["a package name"],
    });
    expect(explainField("package.name", schemas).allowed, "a description is not a format").toEqual([]);
  });

  it("rejects an unknown field and names the parent", () => {
    expect(() => explainField("package.clases", schemas)).toThrow(/package has no field "clases"/);
    expect(() => explainField("package.name.first", schemas)).toThrow(/package\.name has no field "first"/);
  });

  it("distinguishes field paths from deployment keys", () => {
    expect(isFieldPath("package.classes")).toBe(true);
    expect(isFieldPath("shop-order")).toBe(false);
  });
});
