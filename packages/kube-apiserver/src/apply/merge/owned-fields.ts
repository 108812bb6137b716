import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { below, growingSet, isEmptySet, type FieldSet, type GrowingSet } from "../fields/field-set.ts";
import { declaredMember, itemElement, mergeSchemaOf, shapeOf, type MaybeSchema } from "./merge-shape.ts";
import { memberElement, memberNameOf, type PathElement } from "../fields/path-element.ts";

/**
 * The fields a value sets: its leaves, and entries of maps and lists. A declared field that contains others is included
 * only if it is empty or null.
 */
export function ownedFields(value: JsonValue, schema: MaybeSchema): FieldSet {
  const root = growingSet();
  collect(value, schema, root);
  return root;
}

/** Adds the fields below a value; returns whether it is a leaf and so itself set. */
function collect(value: JsonValue, schema: MaybeSchema, into: GrowingSet): boolean {
  const shape = shapeOf(schema, value);
  if (shape.kind === "leaf") return true;
  if (shape.kind === "list") {
    for (const item of isJsonArray(value) ? value : []) {
      const element = itemElement(shape, item);
      if (element === undefined) continue;
      into.members.add(element);
      collectBelow(item, shape.items, into, element);
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = value[name] as JsonValue;
      const element = memberElement(name);
      const isEmpty = member === null || (isJsonObject(member) && Object.keys(member).length === 0);
      const isLeaf = collectBelow(member, mergeSchemaOf(schema, name), into, element);
      if (isLeaf || isEmpty || declaredMember(schema, name) === undefined) into.members.add(element);
    }
  }
  return false;
}

function collectBelow(value: JsonValue, schema: MaybeSchema, into: GrowingSet, element: PathElement): boolean {
  // Two items with one key are one location.
  const known = into.children.get(element);
  const child = known ?? growingSet();
  const isLeaf = collect(value, schema, child);
  if (known === undefined && !isEmptySet(child)) into.children.set(element, child);
  return isLeaf;
}

/** Adds every declared ancestor of the fields in the set: the owner of the last field below it owns it. */
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
