import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { isEmptySet, NO_FIELDS, type FieldSet } from "./field-set.ts";
import { compareElements, parseElement, type PathElement } from "./path-element.ts";

/** Marks, inside the entry of a field that has others below it, that the field itself is in the set. */
const SELF = ".";

/** A set of fields as `fieldsV1` in managed fields, in the server's order. */
export function encodeFields(set: FieldSet): JsonObject {
  const elements = [...new Set([...set.members, ...set.children.keys()])].sort(compareElements);
  return Object.fromEntries(elements.map((element) => [element, encodeElement(set, element)]));
}

function encodeElement(set: FieldSet, element: PathElement): JsonObject {
  const child = set.children.get(element);
  if (child === undefined) return {};
  return set.members.has(element) ? { [SELF]: {}, ...encodeFields(child) } : encodeFields(child);
}

/** The inverse of `encodeFields`. Unknown kinds of steps are skipped: a later version may know them. */
export function decodeFields(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) return NO_FIELDS;
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  for (const [text, inside] of Object.entries(fields)) {
    const element = parseElement(text);
    if (element === undefined) continue;
    const child = decodeFields(inside);
    if (isEmptySet(child) || (isJsonObject(inside) && Object.hasOwn(inside, SELF))) members.add(element);
    if (!isEmptySet(child)) children.set(element, child);
  }
  return { members, children };
}
