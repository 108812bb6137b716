import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import {
  additionalOf,
  isForbiddenNull,
  mapItems,
  mapMembers,
  memberSchema,
  propertyOf,
  type StructuralSchema,
} from "./structural-schema.ts";

/**
 * Applies missing defaults of the schema. Null counts as missing unless the schema is nullable; defaults are applied
 * inside defaults too. The input is not mutated; idempotent.
 */
export function applyDefaults(value: unknown, schema: StructuralSchema | undefined): JsonValue {
  return applyMemberDefaults(value as JsonValue, schema);
}

function applyMemberDefaults(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema === undefined) return value;
  if (isJsonObject(value)) {
    return mapMembers(addMissing(value, schema), (member, name) => {
      const isDeclared = propertyOf(schema, name) !== undefined;
      return applyMemberDefaults(
        isDeclared ? member : skipNull(member, additionalOf(schema)),
        memberSchema(schema, name),
      );
    });
  }
  const { items } = schema;
  if (isJsonArray(value)) return mapItems(value, (item) => applyMemberDefaults(skipNull(item, items), items));
  return value;
}

function addMissing(object: JsonObject, schema: StructuralSchema): JsonObject {
  const missing = Object.entries(schema.properties ?? {}).flatMap(([name, property]): [string, JsonValue][] => {
    const value = memberOf(object, name);
    const isMissing = value === undefined || isForbiddenNull(value, property);
    return isMissing && property.default !== undefined ? [[name, property.default]] : [];
  });
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

function skipNull(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  return isForbiddenNull(value, schema) ? (schema?.default ?? null) : value;
}

/**
 * Removes nulls that the schema forbids and has no default for: the server drops them before validation. Nulls in lists
 * stay and are rejected.
 */
export function dropForbiddenNulls(value: unknown, schema: StructuralSchema | undefined): JsonValue {
  return dropNulls(value as JsonValue, schema);
}

function dropNulls(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema === undefined) return value;
  if (isJsonObject(value)) {
    return mapMembers(value, (member, name) => {
      const of = memberSchema(schema, name);
      return isForbiddenNull(member, of) && of?.default === undefined ? undefined : dropNulls(member, of);
    });
  }
  return isJsonArray(value) ? mapItems(value, (item) => dropNulls(item, schema.items)) : value;
}
