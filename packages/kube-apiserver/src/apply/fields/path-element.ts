import { canonicalJson } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

/**
 * One step into an object, in `fieldsV1` notation: `f:name` a member, `k:{"port":80}` the list item with these keys,
 * `v:"x"` an item of a set, `i:0` an item by index. Equal steps are equal strings.
 */
export type PathElement = string;

/** The step to a member. */
export function memberElement(name: string): PathElement {
  return `f:${name}`;
}

/** The step to the item with these keys. */
export function keyedElement(keys: JsonObject): PathElement {
  return `k:${canonicalJson(keys)}`;
}

/** The step to an item of a set. */
export function valueElement(value: JsonValue): PathElement {
  return `v:${canonicalJson(value)}`;
}

/** The member name of a step; undefined for steps into lists. */
export function memberNameOf(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/** Normalizes a step from the wire; undefined for unknown kinds of steps. */
export function parseElement(text: string): PathElement | undefined {
  if (text.startsWith("f:") || /^i:\d+$/.test(text)) return text;
  if (!/^[kv]:/.test(text)) return undefined;
  const value = parseJson(text.slice(2));
  if (value === undefined || (text.startsWith("k:") && !isJsonObject(value))) return undefined;
  return `${text.slice(0, 2)}${canonicalJson(value)}`;
}

function parseJson(text: string): JsonValue | undefined {
  // Text that is not JSON is not a step; the parser throws on it.
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** A step in the server's messages: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
export function formatElement(element: PathElement): string {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return `.${rest}`;
  if (element.startsWith("v:")) return `[=${rest}]`;
  if (element.startsWith("i:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as JsonObject);
  return `[${keys.map(([name, value]) => `${name}=${canonicalJson(value)}`).join(",")}]`;
}

const RANKS = "fkvi";

/** The server's order of steps: members by name, then items by keys, value, index. */
export function compareElements(a: PathElement, b: PathElement): number {
  const ranks = RANKS.indexOf(a.charAt(0)) - RANKS.indexOf(b.charAt(0));
  if (ranks !== 0 || a === b) return ranks;
  if (a.startsWith("f:")) return compareValues(a, b);
  const [left, right] = [a, b].map((element) => JSON.parse(element.slice(2)) as JsonValue);
  if (isJsonObject(left) && isJsonObject(right)) return compareKeys(Object.entries(left), Object.entries(right));
  return compareValues(left ?? null, right ?? null);
}

function compareKeys(a: readonly (readonly [string, JsonValue])[], b: typeof a): number {
  for (const [at, [name, value]] of a.entries()) {
    const [otherName, otherValue] = b[at] ?? ["", null];
    const order = compareValues(name, otherName) || compareValues(value, otherValue);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const TYPES = ["number", "string", "boolean", "object"];

/** Numbers by size before strings, strings before everything else. */
function compareValues(a: JsonValue, b: JsonValue): number {
  const types = TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b);
  if (types !== 0 || a === b) return types;
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [a, b].map((value) => (typeof value === "string" ? value : canonicalJson(value)));
  return String(left) < String(right) ? -1 : 1;
}
