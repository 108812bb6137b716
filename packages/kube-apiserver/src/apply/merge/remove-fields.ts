import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { fieldsBelow, isEmptySet, type FieldSet } from "../fields/field-set.ts";
import { getItemElement, getMemberSchema, getMergeShape, type MaybeSchema, type MergeShape } from "./merge-shape.ts";
import { memberElement } from "../fields/path-element.ts";

/**
 * The value without these fields. A map or list that loses all its contents becomes null, so that its other owners keep
 * it.
 */
export function removeFields(value: JsonValue, fields: FieldSet, schema: MaybeSchema): JsonValue {
  const shape = getMergeShape(schema, value);
  if (shape.kind === "map") return isJsonObject(value) ? removeMembers(value, fields, schema) : null;
  if (shape.kind === "list") return isJsonArray(value) ? removeItems(value, fields, shape) : null;
  // Parts of an atomic list or map cannot be removed; it is removed as a whole.
  return isJsonArray(value) || isJsonObject(value) ? null : value;
}

function removeMembers(value: JsonValue & object, fields: FieldSet, schema: MaybeSchema): JsonValue {
  const remaining = Object.entries(value as Readonly<Record<string, JsonValue>>).flatMap(
    ([name, member]): [string, JsonValue][] => {
      const element = memberElement(name);
      if (fields.members.has(element)) return [];
      const nested = fieldsBelow(fields, element);
      return [[name, isEmptySet(nested) ? member : removeFields(member, nested, getMemberSchema(schema, name))]];
    },
  );
  return remaining.length === 0 ? null : Object.fromEntries(remaining);
}

function removeItems(
  items: readonly JsonValue[],
  fields: FieldSet,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
): JsonValue {
  const remaining = items.flatMap((item) => {
    const element = getItemElement(shape, item);
    if (element === undefined) return [item];
    if (fields.members.has(element)) return [];
    const nested = fieldsBelow(fields, element);
    return [isEmptySet(nested) ? item : removeFields(item, nested, shape.items)];
  });
  return remaining.length === 0 ? null : remaining;
}
