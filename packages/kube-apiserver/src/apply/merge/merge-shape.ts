import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import { additionalOf, propertyOf, type StructuralSchema } from "../../schema/structural-schema.ts";
import { OBJECT_META_SCHEMA } from "./object-meta-schema.ts";
import { keyedElement, valueElement, type PathElement } from "../fields/path-element.ts";

/** A schema, or undefined where any value is allowed: maps are then merged by member, lists are atomic. */
export type MaybeSchema = StructuralSchema | undefined;

/** How a value merges: atomic, as a map by members, or as a list by keys or values. */
export type MergeShape =
  | { readonly kind: "leaf" }
  | { readonly kind: "map" }
  | { readonly kind: "list"; readonly items: MaybeSchema; readonly keys: readonly string[] };

const LEAF: MergeShape = { kind: "leaf" };
const MAP: MergeShape = { kind: "map" };

/** How a value of this schema merges; without a schema the value decides. */
export function getMergeShape(schema: MaybeSchema, value: JsonValue | undefined): MergeShape {
  if (schema?.["x-kubernetes-int-or-string"] === true) return LEAF;
  if (schema?.type === undefined) return isJsonObject(value) ? MAP : LEAF;
  if (schema.type === "object") return schema["x-kubernetes-map-type"] === "atomic" ? LEAF : MAP;
  if (schema.type !== "array") return LEAF;
  const { items } = schema;
  const keys = getListKeys(schema);
  return keys === undefined ? LEAF : { kind: "list", items, keys };
}

/** The keys of list items; empty for a set, undefined for an atomic list. */
function getListKeys(schema: StructuralSchema): readonly string[] | undefined {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "map") return schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType === "set") return [];
  // Older built-in kinds declare the same with strategic merge patch keywords.
  const isMerged = (schema["x-kubernetes-patch-strategy"] ?? "").split(",").includes("merge");
  if (listType === "atomic" || !isMerged) return undefined;
  const key = schema["x-kubernetes-patch-merge-key"];
  return key === undefined ? [] : [key];
}

/** The schema of a declared member, which always exists, unlike a map entry. */
export function getDeclaredSchema(schema: MaybeSchema, name: string): MaybeSchema {
  if (schema === undefined) return undefined;
  if (schema["x-kubernetes-embedded-resource"] === true && name === "metadata") return OBJECT_META_SCHEMA;
  return propertyOf(schema, name);
}

/** The schema of any member. */
export function getMemberSchema(schema: MaybeSchema, name: string): MaybeSchema {
  return getDeclaredSchema(schema, name) ?? (schema === undefined ? undefined : additionalOf(schema));
}

/** The step to a list item; undefined when the item has none of the keys and no defaults for them. */
export function getItemElement(
  { items, keys }: Extract<MergeShape, { readonly kind: "list" }>,
  item: JsonValue,
): PathElement | undefined {
  if (keys.length === 0) return valueElement(item);
  if (!isJsonObject(item)) return undefined;
  const found = keys.flatMap((key): [string, JsonValue][] => {
    const value = memberOf(item, key) ?? (items === undefined ? undefined : propertyOf(items, key)?.default);
    return value === undefined || value === null ? [] : [[key, value]];
  });
  return found.length === 0 ? undefined : keyedElement(Object.fromEntries(found));
}

/** The members of a value that merges as a map; null and other values have none. */
export function getMembers(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The items of a value that merges as a list, by step; only the first of duplicates. */
export function getItems(
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  value: JsonValue | undefined,
): ReadonlyMap<PathElement, JsonValue> {
  const found = new Map<PathElement, JsonValue>();
  for (const item of isJsonArray(value) ? value : []) {
    const element = getItemElement(shape, item);
    if (element !== undefined && !found.has(element)) found.set(element, item);
  }
  return found;
}

/** The schema of a whole kind for merging: common fields are added to the declared ones. */
export function addCommonFields(schema: StructuralSchema): StructuralSchema {
  return {
    ...schema,
    type: "object",
    "x-kubernetes-embedded-resource": true,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: OBJECT_META_SCHEMA,
    },
  };
}
