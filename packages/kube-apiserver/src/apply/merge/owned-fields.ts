import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { fieldsBelow, createMutableSet, isEmptySet, type FieldSet, type MutableFieldSet } from "../fields/field-set.ts";
import { getDeclaredSchema, getItemElement, getMemberSchema, getMergeShape, type MaybeSchema } from "./merge-shape.ts";
import { memberElement, memberNameOf, type PathElement } from "../fields/path-element.ts";

/**
 * The fields a value sets: its leaves, and entries of maps and lists. A declared field that contains others is included
 * only if it is empty or null.
 */
export function collectOwnedFields(value: JsonValue, schema: MaybeSchema): FieldSet {
  const root = createMutableSet();
  collectFields(value, schema, root);
  return root;
}

/** Adds the fields below a value; returns whether it is a leaf and so itself set. */
function collectFields(value: JsonValue, schema: MaybeSchema, into: MutableFieldSet): boolean {
  const shape = getMergeShape(schema, value);
  if (shape.kind === "leaf") return true;
  if (shape.kind === "list") {
    for (const item of isJsonArray(value) ? value : []) {
      const element = getItemElement(shape, item);
      if (element === undefined) continue;
      into.members.add(element);
      collectBelow(item, shape.items, into, element);
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = value[name] as JsonValue;
      const element = memberElement(name);
      const isEmpty = member === null || (isJsonObject(member) && Object.keys(member).length === 0);
      const isLeaf = collectBelow(member, getMemberSchema(schema, name), into, element);
      if (isLeaf || isEmpty || getDeclaredSchema(schema, name) === undefined) into.members.add(element);
    }
  }
  return false;
}

function collectBelow(value: JsonValue, schema: MaybeSchema, into: MutableFieldSet, element: PathElement): boolean {
  // Two items with one key are one location.
  const existing = into.children.get(element);
  const child = existing ?? createMutableSet();
  const isLeaf = collectFields(value, schema, child);
  if (existing === undefined && !isEmptySet(child)) into.children.set(element, child);
  return isLeaf;
}

/** Adds every declared ancestor of the fields in the set: the owner of the last field below it owns it. */
export function addDeclaredFields(set: FieldSet, schema: MaybeSchema): FieldSet {
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const element of set.children.keys()) {
    const name = memberNameOf(element);
    if (name !== undefined && getDeclaredSchema(schema, name) !== undefined) members.add(element);
    const memberSchema = name === undefined ? schema?.items : getMemberSchema(schema, name);
    children.set(element, addDeclaredFields(fieldsBelow(set, element), memberSchema));
  }
  return { members, children };
}
