import { equalJson } from "@oaas/foundation";
import { type JsonValue, memberOf } from "@oaas/kube-core";
import { createFieldSet, union, type FieldPath, type FieldSet } from "../fields/field-set.ts";
import {
  getItems,
  getMembers,
  getMemberSchema,
  getMergeShape,
  type MaybeSchema,
  type MergeShape,
} from "./merge-shape.ts";
import { memberElement } from "../fields/path-element.ts";

/** The difference between two states of an object. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Which fields differ between two states of an object; containers are added and removed with their fields. */
export function compareFields(before: JsonValue, after: JsonValue, schema: MaybeSchema): Comparison {
  const changes: Changes = { added: [], modified: [], removed: [] };
  compareValues(before, after, schema, [], changes);
  return {
    added: createFieldSet(changes.added),
    modified: createFieldSet(changes.modified),
    removed: createFieldSet(changes.removed),
  };
}

/** Fields that the second state sets differently. */
export function getChangedFields({ added, modified }: Comparison): FieldSet {
  return union(added, modified);
}

type Changes = Readonly<Record<keyof Comparison, FieldPath[]>>;
type Maybe = JsonValue | undefined;

function compareValues(before: Maybe, after: Maybe, schema: MaybeSchema, path: FieldPath, changes: Changes): void {
  const [left, right] = [getMergeShape(schema, before), getMergeShape(schema, after)];
  const hasBoth = (before ?? null) !== null && (after ?? null) !== null;
  if (hasBoth && left.kind !== right.kind) {
    // Without a schema, a map can become a scalar: its members are removed, and the field itself changes.
    compareAs(left, before, after, schema, path, changes);
    compareAs(right, before, after, schema, path, changes);
  } else compareAs((after ?? null) === null ? left : right, before, after, schema, path, changes);
}

function compareAs(
  shape: MergeShape,
  before: Maybe,
  after: Maybe,
  schema: MaybeSchema,
  path: FieldPath,
  changes: Changes,
): void {
  const isLeaf = shape.kind === "leaf" || areBothEmpty(shape, before, after);
  if (!isLeaf && shape.kind === "map") compareMembers(before, after, schema, path, changes);
  if (!isLeaf && shape.kind === "list") compareItems(before, after, shape, path, changes);
  if (before === undefined) changes.added.push(path);
  else if (after === undefined) changes.removed.push(path);
  else if (isLeaf && !equalJson(before, after)) changes.modified.push(path);
}

/** Empty and null on both sides: treated as leaves, so that they can be distinguished. */
function areBothEmpty(shape: MergeShape, before: Maybe, after: Maybe): boolean {
  if (shape.kind === "list") return getItems(shape, before).size === 0 && getItems(shape, after).size === 0;
  return Object.keys(getMembers(before)).length === 0 && Object.keys(getMembers(after)).length === 0;
}

function compareMembers(before: Maybe, after: Maybe, schema: MaybeSchema, path: FieldPath, changes: Changes): void {
  const [left, right] = [getMembers(before), getMembers(after)];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inside = [...path, memberElement(name)];
    compareValues(memberOf(left, name), memberOf(right, name), getMemberSchema(schema, name), inside, changes);
  }
}

function compareItems(
  before: Maybe,
  after: Maybe,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  path: FieldPath,
  changes: Changes,
): void {
  const [left, right] = [getItems(shape, before), getItems(shape, after)];
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    compareValues(left.get(element), right.get(element), shape.items, [...path, element], changes);
  }
}
