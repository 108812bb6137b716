import { equalJson } from "@oaas/foundation";
import { type JsonValue, memberOf } from "@oaas/kube-core";
import { fieldSetOf, union, type FieldPath, type FieldSet } from "../fields/field-set.ts";
import { itemsOf, membersOf, mergeSchemaOf, shapeOf, type MaybeSchema, type MergeShape } from "./merge-shape.ts";
import { memberElement } from "../fields/path-element.ts";

/** The difference between two states of an object. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Which fields differ between two states of an object; containers are added and removed with their fields. */
export function compareFields(before: JsonValue, after: JsonValue, schema: MaybeSchema): Comparison {
  const found: Changes = { added: [], modified: [], removed: [] };
  compare(before, after, schema, [], found);
  return { added: fieldSetOf(found.added), modified: fieldSetOf(found.modified), removed: fieldSetOf(found.removed) };
}

/** Fields that the second state sets differently. */
export function setFields({ added, modified }: Comparison): FieldSet {
  return union(added, modified);
}

type Changes = Readonly<Record<keyof Comparison, FieldPath[]>>;
type Maybe = JsonValue | undefined;

function compare(before: Maybe, after: Maybe, schema: MaybeSchema, path: FieldPath, found: Changes): void {
  const [left, right] = [shapeOf(schema, before), shapeOf(schema, after)];
  const hasBoth = (before ?? null) !== null && (after ?? null) !== null;
  if (hasBoth && left.kind !== right.kind) {
    // Without a schema, a map can become a scalar: its members are removed, and the field itself changes.
    compareAs(left, before, after, schema, path, found);
    compareAs(right, before, after, schema, path, found);
  } else compareAs((after ?? null) === null ? left : right, before, after, schema, path, found);
}

function compareAs(
  shape: MergeShape,
  before: Maybe,
  after: Maybe,
  schema: MaybeSchema,
  path: FieldPath,
  found: Changes,
): void {
  const isLeaf = shape.kind === "leaf" || isNothing(shape, before, after);
  if (!isLeaf && shape.kind === "map") compareMembers(before, after, schema, path, found);
  if (!isLeaf && shape.kind === "list") compareItems(before, after, shape, path, found);
  if (before === undefined) found.added.push(path);
  else if (after === undefined) found.removed.push(path);
  else if (isLeaf && !equalJson(before, after)) found.modified.push(path);
}

/** Empty and null on both sides: treated as leaves, so that they can be distinguished. */
function isNothing(shape: MergeShape, before: Maybe, after: Maybe): boolean {
  if (shape.kind === "list") return itemsOf(shape, before).size === 0 && itemsOf(shape, after).size === 0;
  return Object.keys(membersOf(before)).length === 0 && Object.keys(membersOf(after)).length === 0;
}

function compareMembers(before: Maybe, after: Maybe, schema: MaybeSchema, path: FieldPath, found: Changes): void {
  const [left, right] = [membersOf(before), membersOf(after)];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inside = [...path, memberElement(name)];
    compare(memberOf(left, name), memberOf(right, name), mergeSchemaOf(schema, name), inside, found);
  }
}

function compareItems(
  before: Maybe,
  after: Maybe,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  path: FieldPath,
  found: Changes,
): void {
  const [left, right] = [itemsOf(shape, before), itemsOf(shape, after)];
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    compare(left.get(element), right.get(element), shape.items, [...path, element], found);
  }
}
