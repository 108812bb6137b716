/** Any JSON value. Results have this type; inputs are `unknown`, so that typed objects need no casts. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A read-only JSON object. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** Whether this is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether this is a JSON array. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * An object's own member, or undefined. Inherited members are ignored: `constructor` and `__proto__` are ordinary
 * names.
 */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A copy with one member set. The computed key makes `__proto__` an ordinary member. */
export function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return { ...object, [name]: value };
}

/** A copy without one member. */
export function withoutMember(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
