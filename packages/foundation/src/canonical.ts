import { pathOf, ROOT_PATH } from "./violation.ts";
import { sha256 } from "./sha256.ts";

const HASH_BYTES = 20;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * The one text of a JSON value: members sorted by UTF-16 code units, no white space, numbers as ECMAScript prints them
 * (RFC 8785). Members that are undefined are left out, as on the wire.
 *
 * Throws a TypeError that names the place for what JSON cannot say (NaN, functions, dates, maps): two different values
 * must not end up as the same text by accident.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, []);
}

/**
 * A stable hash of a JSON value: the same for every order of members, different for different values. 160 bits of
 * SHA-256 over the canonical text as 40 hexadecimal digits, so that it fits a label value.
 */
export function hashJson(value: unknown): string {
  const digest = sha256(canonicalJson(value));
  let text = "";
  for (let index = 0; index < HASH_BYTES; index += 1) text += HEX[digest[index] ?? 0];
  return text;
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

/** The way to a value; written out only when there is something to say about it, because hashing is on hot paths. */
type Trail = (string | number)[];

function textOf(value: unknown, trail: Trail): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw unsayable(trail, `is ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? listText(value, trail) : objectText(value, trail);
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw unsayable(trail, `is of type ${typeof value}`);
  }
}

function listText(items: readonly unknown[], trail: Trail): string {
  let text = "";
  for (let index = 0; index < items.length; index += 1) {
    trail.push(index);
    text += `${index === 0 ? "" : ","}${textOf(items[index], trail)}`;
    trail.pop();
  }
  return `[${text}]`;
}

function objectText(value: object, trail: Trail): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw unsayable(trail, `is a ${value.constructor.name}`);
  const members = value as Readonly<Record<string, unknown>>;
  let text = "";
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    trail.push(name);
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${textOf(member, trail)}`;
    trail.pop();
  }
  return `{${text}}`;
}

function unsayable(trail: Trail, what: string): TypeError {
  return new TypeError(`${pathOf(ROOT_PATH, ...trail)} ${what}, which JSON cannot say`);
}
