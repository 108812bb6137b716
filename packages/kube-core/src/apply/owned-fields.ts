import { isJsonArray, isJsonObject, type JsonValue } from "../json-value.ts";
import { below, fieldSetOf, type FieldPath, type FieldSet } from "./field-set.ts";
import { declaredMember, itemElement, mergeSchemaOf, shapeOf, type MaybeSchema } from "./merge-shape.ts";
import { memberElement, memberNameOf } from "./path-element.ts";

/**
 * The fields a value sets: its leaves, and those entries of maps and lists that are there only because it says so. A
 * declared field that holds others is not among them, unless it is empty or null.
 */
export function ownedFields(value: JsonValue, schema: MaybeSchema): FieldSet {
  return fieldSetOf(ownedPaths(value, schema, []));
}

function* ownedPaths(value: JsonValue, schema: MaybeSchema, path: FieldPath): Generator<FieldPath> {
  const shape = shapeOf(schema, value);
  if (shape.kind === "leaf") yield path;
  else if (shape.kind === "list") {
    for (const item of isJsonArray(value) ? value : []) {
      const element = itemElement(shape, item);
      if (element === undefined) continue;
      yield [...path, element];
      yield* ownedPaths(item, shape.items, [...path, element]);
    }
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const inside = [...path, memberElement(name)];
      const isEmpty = member === null || (isJsonObject(member) && Object.keys(member).length === 0);
      if (isEmpty || declaredMember(schema, name) === undefined) yield inside;
      yield* ownedPaths(member, mergeSchemaOf(schema, name), inside);
    }
  }
}

/** The set with every declared field in it that it has something below of: who owns the last of it owns the field. */
export function withDeclaredFields(set: FieldSet, schema: MaybeSchema): FieldSet {
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const element of set.children.keys()) {
    const name = memberNameOf(element);
    if (name !== undefined && declaredMember(schema, name) !== undefined) members.add(element);
    const inside = name === undefined ? schema?.items : mergeSchemaOf(schema, name);
    children.set(element, withDeclaredFields(below(set, element), inside));
  }
  return { members, children };
}
