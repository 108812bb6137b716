import { sha256Hex } from "./sha256.ts";
import { pathOf, ROOT_PATH } from "./violation.ts";

const HASH_DIGITS = 40;
/** From here on sorting by insertion no longer pays. */
const MANY_MEMBERS = 24;

/**
 * The one text of a JSON value: members sorted by UTF-16 code units, no white space, numbers as ECMAScript prints them
 * (RFC 8785). Members that are undefined are left out, as on the wire.
 *
 * Throws a TypeError that names the place for what JSON cannot say (NaN, functions, dates, maps): two different values
 * must not end up as the same text by accident.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, undefined);
}

/**
 * A stable hash of a JSON value: the same for every order of members, different for different values. 160 bits of
 * SHA-256 over the canonical text as 40 hexadecimal digits, so that it fits a label value.
 */
export function hashJson(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, HASH_DIGITS);
}

/** What stands for a JSON value towards others, who can tell it by themselves: SHA-256 over the canonical text, with its name before it. */
export function digestJson(value: unknown): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}

/** Whether two JSON values are the same, whatever the order of members. A member that is undefined is not there. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  return !Array.isArray(b) && equalMembers(a, b);
}

function equalItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!equalJson(left[index], right[index])) return false;
  return true;
}

/** Whether two JSON objects have the same members, apart from those named. */
export function equalMembers(a: object, b: object, except: readonly string[] = NO_NAMES): boolean {
  const [left, right] = [a as JsonMembers, b as JsonMembers];
  let surplus = 0;
  for (const name of Object.keys(left)) {
    if (left[name] === undefined || except.includes(name)) continue;
    if (!Object.hasOwn(right, name) || !equalJson(left[name], right[name])) return false;
    surplus -= 1;
  }
  for (const name of Object.keys(right)) if (right[name] !== undefined && !except.includes(name)) surplus += 1;
  return surplus === 0;
}

const NO_NAMES: readonly string[] = [];

type JsonMembers = Readonly<Record<string, unknown>>;

/** The way to a value, from the inside out; written out only when there is something to say about it, because hashing is on hot paths. */
interface Trail {
  readonly step: string | number;
  readonly outer: Trail | undefined;
}

/** What JSON cannot take as it is: quotes, backslashes, control characters, halves of surrogate pairs. */
const NEEDS_ESCAPE = /["\\\p{Cc}\p{Cs}]/u;

function textOf(value: unknown, outer: Trail | undefined): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw unsayable(outer, `is ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? listText(value, outer) : objectText(value, outer);
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw unsayable(outer, `is of type ${typeof value}`);
  }
}

/** Most texts need no escape, and asking costs less than JSON's own way of writing them. */
function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function listText(items: readonly unknown[], outer: Trail | undefined): string {
  let text = "[";
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (index > 0) text += ",";
    text += typeof item === "string" ? quoted(item) : textOf(item, { step: index, outer });
  }
  return `${text}]`;
}

function objectText(value: object, outer: Trail | undefined): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw unsayable(outer, `is a ${value.constructor.name}`);
  const members = value as Readonly<Record<string, unknown>>;
  let text = "{";
  for (const name of sorted(Object.keys(members))) {
    const member = members[name];
    if (member === undefined) continue;
    if (text !== "{") text += ",";
    text += `${quoted(name)}:`;
    text += typeof member === "string" ? quoted(member) : textOf(member, { step: name, outer });
  }
  return `${text}}`;
}

/** In place, by UTF-16 code units. By insertion, because members are few and mostly in order: the engine's own sort costs three times as much then. */
function sorted(names: string[]): string[] {
  if (names.length > MANY_MEMBERS) return names.sort();
  for (let index = 1; index < names.length; index += 1) {
    const name = names[index] as string;
    let place = index;
    for (; place > 0 && (names[place - 1] as string) > name; place -= 1) names[place] = names[place - 1] as string;
    names[place] = name;
  }
  return names;
}

function unsayable(trail: Trail | undefined, what: string): TypeError {
  const steps: (string | number)[] = [];
  for (let at = trail; at !== undefined; at = at.outer) steps.unshift(at.step);
  return new TypeError(`${pathOf(ROOT_PATH, ...steps)} ${what}, which JSON cannot say`);
}
