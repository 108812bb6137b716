import { pathOf, ROOT_PATH } from "../faults/violation.ts";

/**
 * Serializes a JSON value by RFC 8785: members sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Undefined members are omitted.
 *
 * Throws a TypeError with the path of a value that JSON cannot represent (NaN, functions, dates, maps), so that
 * different values never have the same text.
 */
export function canonicalJson(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : textOf(value);
}

/** Whether two JSON values are equal, regardless of the order of members. Undefined members are ignored. */
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

/** Whether two JSON objects have equal members, ignoring the names in `except`. */
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

/** Whether `JSON.stringify` writes a value in canonical form: JSON values only, with the members of objects in order. */
function isInOrder(value: unknown): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? areItemsInOrder(value) : areMembersInOrder(value);
}

function areItemsInOrder(items: readonly unknown[]): boolean {
  for (let index = 0; index < items.length; index += 1) if (!isInOrder(items[index])) return false;
  return true;
}

function areMembersInOrder(value: object): boolean {
  if (!isPlainObject(value)) return false;
  const members = value as JsonMembers;
  let last: string | undefined;
  for (const name of Object.keys(members)) {
    if (last !== undefined && name < last) return false;
    const member = members[name];
    if (member !== undefined && !isInOrder(member)) return false;
    last = name;
  }
  return true;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Path of an object or array, innermost step first. It is formatted only for an error. */
interface Trail {
  readonly step: string | number;
  readonly outer: Trail | undefined;
}

/** The text of the value at a step of its parent; the root has no step. */
function textOf(value: unknown, step?: string | number, outer?: Trail): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw notJson(trailOf(step, outer), `is ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? arrayText(value, trailOf(step, outer)) : objectText(value, trailOf(step, outer));
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw notJson(trailOf(step, outer), `is of type ${typeof value}`);
  }
}

function trailOf(step: string | number | undefined, outer: Trail | undefined): Trail | undefined {
  return step === undefined ? undefined : { step, outer };
}

function arrayText(items: readonly unknown[], trail: Trail | undefined): string {
  let text = "";
  // By index, which visits the holes of a sparse array.
  for (let index = 0; index < items.length; index += 1)
    text += `${index === 0 ? "" : ","}${textOf(items[index], index, trail)}`;
  return `[${text}]`;
}

function objectText(value: object, trail: Trail | undefined): string {
  if (!isPlainObject(value)) throw notJson(trail, `is a ${value.constructor.name}`);
  const members = value as JsonMembers;
  let text = "";
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${textOf(member, name, trail)}`;
  }
  return `{${text}}`;
}

function notJson(trail: Trail | undefined, what: string): TypeError {
  const steps: (string | number)[] = [];
  for (let at = trail; at !== undefined; at = at.outer) steps.unshift(at.step);
  return new TypeError(`${pathOf(ROOT_PATH, ...steps)} ${what}, which JSON cannot represent`);
}
