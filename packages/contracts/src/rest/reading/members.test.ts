import { describe, expect, test } from "vitest";
import { INPUT_COMPONENTS, VIEW_COMPONENTS } from "../openapi/components.ts";
import { fieldsOf } from "./members.ts";
import { openApiDocument } from "../openapi/document.ts";

type Json = Readonly<Record<string, unknown>>;

const { schemas } = openApiDocument("1.0.0").components as unknown as { readonly schemas: Record<string, Json> };

/** A JSON schema without what wraps it: a reference, or that it may be absent. */
function solid(schema: Json): Json {
  const ref = schema["$ref"];
  if (typeof ref === "string") return solid(schemas[ref.split("/").at(-1) ?? ""] ?? {});
  const options = schema["anyOf"] as readonly Json[] | undefined;
  const real = options?.find(
    (each) => each["$ref"] !== undefined || ["object", "array"].includes(String(each["type"])),
  );
  return real ? solid(real) : schema;
}

/** Every path of members, as deep as it goes. */
function pathsOf(schema: Parameters<typeof fieldsOf>[0], json: Json, path: string, depth = 0): readonly string[] {
  const resolved = solid(json);
  const { members, items } = fieldsOf(schema);
  const properties = Object.fromEntries(
    Object.entries((resolved["properties"] ?? {}) as Readonly<Record<string, Json>>).filter(
      ([, property]) => property["x-ignored"] !== true,
    ),
  );
  expect(Object.keys(members ?? {}), path).toEqual(Object.keys(properties));
  // Findings hold findings.
  if (depth > 6) return [path];
  if (items) return pathsOf(items, (resolved["items"] ?? {}) as Json, `${path}[]`, depth + 1);
  const below = Object.entries(members ?? {}).flatMap(([name, member]) =>
    pathsOf(member, properties[name] ?? {}, `${path}.${name}`, depth + 1),
  );
  return [path, ...below];
}

describe("finds the same fields as the OpenAPI document", () => {
  test.each(Object.entries({ ...INPUT_COMPONENTS, ...VIEW_COMPONENTS }))("%s", (name, schema) => {
    expect(pathsOf(schema, schemas[name] ?? {}, name).length).toBeGreaterThan(0);
  });
});
