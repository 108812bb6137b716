import { pathOf, ROOT_PATH } from "../faults/violation.ts";

/**
 * Serializes a JSON value by RFC 8785: members sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Undefined members are omitted.
 *
 * Throws a TypeError with the path of a value that JSON cannot represent (NaN, functions, dates, maps), so that
 * different values never have the same text.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, undefined);
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

/** Path of a value, innermost step first. It is formatted only for an error. */
interface Trail {
  readonly step: string | number;
  readonly outer: Trail | undefined;
}

function textOf(value: unknown, outer: Trail | undefined): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw notJson(outer, `is ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? arrayText(value, outer) : objectText(value, outer);
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      throw notJson(outer, `is of type ${typeof value}`);
  }
}

function arrayText(items: readonly unknown[], outer: Trail | undefined): string {
  // Array.from visits the holes of a sparse array, which map would skip.
  return `[${Array.from(items, (item, index) => textOf(item, { step: index, outer })).join(",")}]`;
}

function objectText(value: object, outer: Trail | undefined): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(outer, `is a ${value.constructor.name}`);
  const members = value as JsonMembers;
  const texts = Object.keys(members)
    .sort()
    .filter((name) => members[name] !== undefined)
    .map((name) => `${JSON.stringify(name)}:${textOf(members[name], { step: name, outer })}`);
  return `{${texts.join(",")}}`;
}

function notJson(trail: Trail | undefined, what: string): TypeError {
  const steps: (string | number)[] = [];
  for (let at = trail; at !== undefined; at = at.outer) steps.unshift(at.step);
  return new TypeError(`${pathOf(ROOT_PATH, ...steps)} ${what}, which JSON cannot represent`);
}
