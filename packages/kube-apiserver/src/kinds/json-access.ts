import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

/** Reads decoded objects: absent values are empty, as in Go. */

const NOTHING: JsonObject = {};
const NO_ITEMS: readonly JsonObject[] = [];

/** The member of this name; undefined when it is absent or null. */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** A nested object; empty when absent. */
export function objectAt(object: JsonObject, ...path: readonly string[]): JsonObject {
  let found = object;
  for (const name of path) {
    const value = member(found, name);
    if (!isJsonObject(value)) return NOTHING;
    found = value;
  }
  return found;
}

/** Whether the nested object exists. */
export function hasObject(object: JsonObject, name: string): boolean {
  return isJsonObject(member(object, name));
}

/** A list of objects; empty when absent. */
export function objectsAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value = member(object, name);
  return isJsonArray(value) ? value.filter(isJsonObject) : NO_ITEMS;
}

/** A list of strings; empty when absent. */
export function textsAt(object: JsonObject, name: string): readonly string[] {
  const value = member(object, name);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A string; empty when absent. */
export function textAt(object: JsonObject, name: string): string {
  const value = member(object, name);
  return typeof value === "string" ? value : "";
}

/** A number; undefined when absent. */
export function numberAt(object: JsonObject, name: string): number | undefined {
  const value = member(object, name);
  return typeof value === "number" ? value : undefined;
}

/** Whether a flag is set. */
export function isSet(object: JsonObject, name: string): boolean {
  return member(object, name) === true;
}

/** The entries of a string map. */
export function textEntries(object: JsonObject, name: string): readonly (readonly [string, string])[] {
  return Object.entries(objectAt(object, name)).map(
    ([key, value]) => [key, typeof value === "string" ? value : ""] as const,
  );
}

/** Adds missing members. */
export function fillMissing(object: JsonObject, defaults: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  let result: Record<string, JsonValue> | undefined;
  for (const [name, value] of Object.entries(defaults)) {
    if (value === undefined || member(object, name) !== undefined) continue;
    result ??= { ...object };
    result[name] = value;
  }
  return result ?? object;
}

/** Sets a member, or removes it with undefined. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  if (value === object[name]) return object;
  if (value !== undefined) return { ...object, [name]: value };
  const { [name]: _, ...rest } = object;
  return rest;
}

/** Changes a nested object. */
export function updateAt(object: JsonObject, name: string, change: (inner: JsonObject) => JsonObject): JsonObject {
  return withMember(object, name, change(objectAt(object, name)));
}
