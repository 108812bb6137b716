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
  return prunedBy(object as JsonValue, { ...schema, "x-kubernetes-embedded-resource": true });
}

function prunedBy(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema?.["x-kubernetes-preserve-unknown-fields"] === true) return keptBy(value, schema);
  if (isJsonArray(value)) return mapItems(value, (item) => prunedBy(item, schema?.items));
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member, name) => {
    if (schema === undefined) return undefined;
    if (isImplied(schema, name)) return name === "metadata" ? knownMetadata(member) : member;
    const property = propertyOf(schema, name);
    if (property !== undefined) return prunedBy(member, property);
    return allowsAdditional(schema) ? prunedBy(member, additionalOf(schema)) : undefined;
  });
}

function keptBy(value: JsonValue, schema: StructuralSchema | undefined): JsonValue {
  if (schema === undefined) return value;
  if (isJsonArray(value)) return mapItems(value, (item) => keptBy(item, schema.items));
  if (!isJsonObject(value)) return value;
  return mapMembers(value, (member, name) => {
    if (isImplied(schema, name)) return name === "metadata" ? knownMetadata(member) : member;
    const property = propertyOf(schema, name);
    if (property !== undefined) return prunedBy(member, property);
    return allowsAdditional(schema) ? prunedBy(member, additionalOf(schema)) : member;
  });
}

function isImplied(schema: StructuralSchema, name: string): boolean {
  return schema["x-kubernetes-embedded-resource"] === true && IMPLIED_FIELDS.includes(name);
}

/** Metadata as the server keeps it: known, non-empty fields. */
function knownMetadata(metadata: JsonValue): JsonValue {
  if (!isJsonObject(metadata)) return metadata;
  return mapMembers(metadata, (value, name) => {
    // A zero grace period is kept.
    const isSaid = !isNothing(value) || (name === "deletionGracePeriodSeconds" && value === 0);
    return METADATA_FIELDS.has(name) && isSaid ? value : undefined;
  });
}

function isNothing(value: JsonValue): boolean {
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : value === null || value === "" || value === 0;
}
