import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import type { FieldError } from "../schema/field-error.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { validateMetadata } from "../kinds/validation/metadata.ts";
import { pathSegment } from "../kinds/validation/names.ts";

/** Violations in the metadata of embedded objects: as for any object, except that the name may be missing. */
export function validateEmbeddedMetadata(object: JsonObject, schema: StructuralSchema): readonly FieldError[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    validateValue(object[name] ?? null, property, name),
  );
}

function validateValue(value: JsonValue, schema: StructuralSchema | undefined, field: string): readonly FieldError[] {
  if (schema === undefined || value === null) return [];
  if (isJsonArray(value))
    return value.flatMap((item, index) => validateValue(item, schema.items, `${field}[${index}]`));
  if (!isJsonObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const own = properties[name];
    if (own !== undefined) return validateValue(member, own, `${field}.${name}`);
    return typeof additionalProperties === "object"
      ? validateValue(member, additionalProperties, `${field}[${name}]`)
      : [];
  });
  return [...(schema["x-kubernetes-embedded-resource"] === true ? validateSelf(value, field) : []), ...inside];
}

function validateSelf(embedded: JsonObject, field: string): readonly FieldError[] {
  const { metadata } = embedded;
  if (metadata === undefined || !isJsonObject(metadata)) return [];
  const { name = "" } = metadata;
  const withName = { ...embedded, metadata: { ...metadata, name: name === "" ? "fakename" : name } };
  return validateMetadata(withName, { name: pathSegment }).map((error) => ({
    ...error,
    field: `${field}.${error.field}`,
  }));
}
