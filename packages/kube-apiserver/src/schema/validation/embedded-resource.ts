import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf, parseApiVersion } from "@oaas/kube-core";
import { invalidField, requiredField, type FieldError } from "../field-error.ts";
import { memberSchema, type StructuralSchema } from "../structural-schema.ts";

/** Violations of embedded objects: each needs `apiVersion` and `kind`. */
export function validateEmbeddedResource(value: unknown, schema: StructuralSchema, field = ""): readonly FieldError[] {
  return validateValue(value as JsonValue, schema, field);
}

function validateValue(value: JsonValue, schema: StructuralSchema | undefined, field: string): readonly FieldError[] {
  if (schema === undefined) return [];
  if (isJsonArray(value)) {
    return value.flatMap((item, index) => validateValue(item, schema.items, `${field}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  return [
    ...(schema["x-kubernetes-embedded-resource"] === true ? validateType(value, field) : []),
    ...Object.entries(value).flatMap(([name, member]) =>
      validateValue(member, memberSchema(schema, name), field === "" ? name : `${field}.${name}`),
    ),
  ];
}

function validateType(object: JsonObject, field: string): readonly FieldError[] {
  const [apiVersion, kind] = [memberOf(object, "apiVersion") ?? "", memberOf(object, "kind") ?? ""];
  const found: FieldError[] = [];
  if (apiVersion === "") found.push(requiredField(`${field}.apiVersion`));
  else if (typeof apiVersion === "string" && !parseApiVersion(apiVersion).ok) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    found.push(invalidField(`${field}.apiVersion`, apiVersion, detail));
  }
  if (kind === "") found.push(requiredField(`${field}.kind`));
  return found;
}
