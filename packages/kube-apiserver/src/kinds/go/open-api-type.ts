import { isJsonArray, isJsonObject, type JsonObject } from "@oaas/kube-core";

const REFERENCE = "#/components/schemas/";

/** The name a schema refers to, by itself or as the only part of what it must be. */
export function referenceOf(schema: JsonObject): string | undefined {
  const only = isJsonArray(schema["allOf"]) ? schema["allOf"][0] : schema;
  const reference = isJsonObject(only) ? only["$ref"] : undefined;
  return typeof reference === "string" ? reference.slice(REFERENCE.length) : undefined;
}

/** The type that a schema leads to: its own, or that of the items of a list or map. */
export function elementOf(schema: JsonObject): string | undefined {
  const inner = schema["items"] ?? schema["additionalProperties"];
  return referenceOf(schema) ?? (isJsonObject(inner) ? elementOf(inner) : undefined);
}
