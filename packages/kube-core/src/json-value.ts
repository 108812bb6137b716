/** Anything JSON can say. Results are of this type; inputs are `unknown`, so that typed objects need no casts. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object, read only. */
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
 * An object's own member, or undefined. Never what the object inherits: `constructor` and `__proto__` are ordinary names
 * to us, and found only where the document has them.
 */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A copy with one member set. The computed key makes `__proto__` a member like any other, never the prototype. */
export function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return { ...object, [name]: value };
}

/** A copy without one member. */
export function withoutMember(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
