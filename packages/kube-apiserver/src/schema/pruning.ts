import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import {
  additionalOf,
  allowsAdditional,
  IMPLIED_FIELDS,
  mapItems,
  mapMembers,
  propertyOf,
  type StructuralSchema,
} from "./structural-schema.ts";

/** The known metadata fields; others are unknown in every kind. */
const METADATA_FIELDS: ReadonlySet<string> = new Set([
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/**
 * Removes fields that the schema does not declare. Common fields stay, at the root and in embedded resources; below
 * `x-kubernetes-preserve-unknown-fields` only declared properties are pruned.
 */
export function pruneObject(object: unknown, schema: StructuralSchema): JsonValue {
  return pruneValue(object as JsonValue, { ...schema, "x-kubernetes-embedded-resource": true });
}

function pruneValue(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema?.["x-kubernetes-preserve-unknown-fields"] === true) return pruneMembers(value, schema);
  if (isJsonArray(value)) return mapItems(value, (item) => pruneValue(item, schema?.items));
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member, name) => {
    if (schema === undefined) return undefined;
    if (isImplied(schema, name)) return name === "metadata" ? pruneMetadata(member) : member;
    const property = propertyOf(schema, name);
    if (property !== undefined) return pruneValue(member, property);
    return allowsAdditional(schema) ? pruneValue(member, additionalOf(schema)) : undefined;
  });
}

function pruneMembers(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema === undefined) return value;
  if (isJsonArray(value)) return mapItems(value, (item) => pruneMembers(item, schema.items));
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member, name) => {
    if (isImplied(schema, name)) return name === "metadata" ? pruneMetadata(member) : member;
    const property = propertyOf(schema, name);
    if (property !== undefined) return pruneValue(member, property);
    return allowsAdditional(schema) ? pruneValue(member, additionalOf(schema)) : member;
  });
}

function isImplied(schema: StructuralSchema, name: string): boolean {
  return schema["x-kubernetes-embedded-resource"] === true && IMPLIED_FIELDS.includes(name);
}

/** Metadata as the server keeps it: known, non-empty fields. */
function pruneMetadata(metadata: JsonValue): JsonValue {
  if (!isJsonObject(metadata)) return metadata;
  return mapMembers(metadata, (value, name) => {
    // A zero grace period is kept.
    const isPresent = !isEmpty(value) || (name === "deletionGracePeriodSeconds" && value === 0);
    return METADATA_FIELDS.has(name) && isPresent ? value : undefined;
  });
}

function isEmpty(value: JsonValue): boolean {
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : value === null || value === "" || value === 0;
}
