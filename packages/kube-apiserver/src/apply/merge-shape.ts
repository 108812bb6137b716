import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import { additionalOf, propertyOf, type StructuralSchema } from "../schema/structural-schema.ts";
import { OBJECT_META_SCHEMA } from "./object-meta-schema.ts";
import { keyedElement, valueElement, type PathElement } from "./path-element.ts";

/** A schema, or nothing where any value may stand: maps are then merged by member, lists are one value. */
export type MaybeSchema = StructuralSchema | undefined;

/** How a value merges: as one, by the members of a map, or by the items of a list told apart by keys or by value. */
export type MergeShape =
  | { readonly kind: "leaf" }
  | { readonly kind: "map" }
  | { readonly kind: "list"; readonly items: MaybeSchema; readonly keys: readonly string[] };

const LEAF: MergeShape = { kind: "leaf" };
const MAP: MergeShape = { kind: "map" };

/** How a value of this schema merges; where the schema leaves it open, the value decides. */
export function shapeOf(schema: MaybeSchema, value: JsonValue | undefined): MergeShape {
  if (schema?.["x-kubernetes-int-or-string"] === true) return LEAF;
  if (schema?.type === undefined) return isJsonObject(value) ? MAP : LEAF;
  if (schema.type === "object") return schema["x-kubernetes-map-type"] === "atomic" ? LEAF : MAP;
  if (schema.type !== "array") return LEAF;
  const { items } = schema;
  const keys = listKeys(schema);
  return keys === undefined ? LEAF : { kind: "list", items, keys };
}

/** The keys of a list's items, none for a set, undefined for a list that is one value. */
function listKeys(schema: StructuralSchema): readonly string[] | undefined {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "map") return schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType === "set") return [];
  // Built-in kinds of old say the same in the words of strategic merge patch.
  const isMerged = (schema["x-kubernetes-patch-strategy"] ?? "").split(",").includes("merge");
  if (listType === "atomic" || !isMerged) return undefined;
  const key = schema["x-kubernetes-patch-merge-key"];
  return key === undefined ? [] : [key];
}

/** The schema of a member that is declared by name: such a field is there for good, unlike an entry of a map. */
export function declaredMember(schema: MaybeSchema, name: string): MaybeSchema {
  if (schema === undefined) return undefined;
  if (schema["x-kubernetes-embedded-resource"] === true && name === "metadata") return OBJECT_META_SCHEMA;
  return propertyOf(schema, name);
}

/** The schema of any member. */
export function mergeSchemaOf(schema: MaybeSchema, name: string): MaybeSchema {
  return declaredMember(schema, name) ?? (schema === undefined ? undefined : additionalOf(schema));
}

/** The step to an item of a list; undefined when the item has none of the keys, nor defaults for them. */
export function itemElement(
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

/** The members of a value that is merged as a map; null and anything else have none. */
export function membersOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The items of a value that is merged as a list, by their steps, the first of equals only. */
export function itemsOf(
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  value: JsonValue | undefined,
): ReadonlyMap<PathElement, JsonValue> {
  const found = new Map<PathElement, JsonValue>();
  for (const item of isJsonArray(value) ? value : []) {
    const element = itemElement(shape, item);
    if (element !== undefined && !found.has(element)) found.set(element, item);
  }
  return found;
}

/** The schema of a whole kind for merging: what every object has is added to what the kind declares. */
export function objectSchema(schema: StructuralSchema): StructuralSchema {
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
