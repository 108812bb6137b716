import { isJsonArray, isJsonObject, type JsonObject } from "@oaas/kube-core";

const REFERENCE = "#/components/schemas/";

/** The type name a schema refers to, directly or as the only part of allOf. */
export function referenceOf(schema: JsonObject): string | undefined {
  const only = isJsonArray(schema["allOf"]) ? schema["allOf"][0] : schema;
  const reference = isJsonObject(only) ? only["$ref"] : undefined;
  return typeof reference === "string" ? reference.slice(REFERENCE.length) : undefined;
}

/** The type of a schema: its own, or that of list items or map values. */
export function elementOf(schema: JsonObject): string | undefined {
  const inner = schema["items"] ?? schema["additionalProperties"];
  return referenceOf(schema) ?? (isJsonObject(inner) ? elementOf(inner) : undefined);
}
