import { pathOf, ROOT_PATH } from "./violation.ts";
import { sha256 } from "./sha256.ts";

/**
 * The one text of a JSON value: members sorted by UTF-16 code units, no white space, numbers as ECMAScript prints them
 * (RFC 8785). Members that are undefined are left out, as on the wire.
 *
 * Throws a TypeError that names the place for what JSON cannot say (NaN, functions, dates, maps): two different values
 * must not end up as the same text by accident.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, ROOT_PATH);
}

/**
 * A stable hash of a JSON value: the same for every order of members, different for different values. 160 bits of
 * SHA-256 over the canonical text as 40 hexadecimal digits, so that it fits a label value.
 */
export function hashJson(value: unknown): string {
  return Array.from(sha256(canonicalJson(value)).subarray(0, 20), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

/** Whether two JSON values are the same, whatever the order of members. A member that is undefined is not there. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const left = definedMembers(a);
  const right = b as Readonly<Record<string, unknown>>;
  return (
    left.length === definedMembers(b).length &&
    left.every(([name, value]) => Object.hasOwn(right, name) && equalJson(value, right[name]))
  );
}

function definedMembers(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}

function textOf(value: unknown, path: string): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON cannot say`);
      return JSON.stringify(value);
    case "object":
      return value === null ? "null" : structureText(value, path);
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw new TypeError(`${path} is of type ${typeof value}, which JSON cannot say`);
  }
}

function structureText(value: object, path: string): string {
  if (Array.isArray(value)) return `[${value.map((item, index) => textOf(item, pathOf(path, index))).join(",")}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`${path} is a ${value.constructor.name}, which JSON cannot say`);
  }
  const members = definedMembers(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member, pathOf(path, name))}`);
  return `{${members.join(",")}}`;
}
