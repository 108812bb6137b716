import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { below, isEmptySet, type FieldSet } from "../fields/field-set.ts";
import { itemElement, mergeSchemaOf, shapeOf, type MaybeSchema, type MergeShape } from "./merge-shape.ts";
import { memberElement } from "../fields/path-element.ts";

/**
 * The value without these fields. A map or list that loses all its contents becomes null, so that its other owners keep
 * it.
 */
export function removeFields(value: JsonValue, fields: FieldSet, schema: MaybeSchema): JsonValue {
  const shape = shapeOf(schema, value);
  if (shape.kind === "map") return isJsonObject(value) ? withoutMembers(value, fields, schema) : null;
  if (shape.kind === "list") return isJsonArray(value) ? withoutItems(value, fields, shape) : null;
  // Parts of an atomic list or map cannot be removed; it is removed as a whole.
  return isJsonArray(value) || isJsonObject(value) ? null : value;
}

function withoutMembers(value: JsonValue & object, fields: FieldSet, schema: MaybeSchema): JsonValue {
  const left = Object.entries(value as Readonly<Record<string, JsonValue>>).flatMap(
    ([name, member]): [string, JsonValue][] => {
      const element = memberElement(name);
      if (fields.members.has(element)) return [];
      const inside = below(fields, element);
      return [[name, isEmptySet(inside) ? member : removeFields(member, inside, mergeSchemaOf(schema, name))]];
    },
  );
  return left.length === 0 ? null : Object.fromEntries(left);
}

function withoutItems(
  items: readonly JsonValue[],
  fields: FieldSet,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
): JsonValue {
  const left = items.flatMap((item) => {
    const element = itemElement(shape, item);
    if (element === undefined) return [item];
    if (fields.members.has(element)) return [];
    const inside = below(fields, element);
    return [isEmptySet(inside) ? item : removeFields(item, inside, shape.items)];
  });
  return left.length === 0 ? null : left;
}
