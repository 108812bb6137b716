import { faultFields } from "./fault-fields.ts";
import { HIDDEN, hideSecrets, isSecretKey } from "./secrets.ts";

const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 8192;

/**
 * Any value as plain JSON fit for a log line.
 *
 * Guarantees: never throws; cycles, depth and length are cut with a mark; values under keys that sound like secrets,
 * and passwords inside texts, are hidden; faults and errors come with their causes.
 */
export function loggable(value: unknown, depth = 0, within: readonly object[] = []): unknown {
  switch (typeof value) {
    case "string":
      return shortText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : loggableObject(value, depth, within);
    case "function":
    case "symbol":
      return `[${typeof value}]`;
    case "boolean":
    case "undefined":
      return value;
    default:
      return undefined;
  }
}

function loggableObject(value: object, depth: number, within: readonly object[]): unknown {
  if (within.includes(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[too deep]";
  const inside = [...within, value];
  const deeper = (part: unknown): unknown => loggable(part, depth + 1, inside);
  try {
    if (value instanceof Error) return faultFields(value, deeper);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof URL) return shortText(value.href);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value)) return loggableItems(value, deeper);
    if (value instanceof Set) return loggableItems([...value], deeper);
    return value instanceof Map ? loggableMap(value, deeper) : loggableMembers(value, deeper);
  } catch {
    return UNREADABLE;
  }
}

function loggableItems(items: readonly unknown[], deeper: (part: unknown) => unknown): unknown[] {
  const shown = items.slice(0, MAX_ITEMS).map((item) => deeper(item));
  return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown;
}

function loggableMap(map: ReadonlyMap<unknown, unknown>, deeper: (part: unknown) => unknown): Record<string, unknown> {
  return loggableMembers(Object.fromEntries([...map].map(([key, part]) => [String(key), part])), deeper);
}

/** Puts fields into a line, as `loggable` has them; names that are taken get an underscore. Never throws. */
export function putLoggable(
  line: Record<string, unknown>,
  fields: Readonly<Record<string, unknown>>,
  taken: ReadonlySet<string>,
): Record<string, unknown> {
  try {
    return loggableMembers(fields, (part) => loggable(part, 1, [fields]), { plain: line, taken });
  } catch {
    line["fields"] = UNREADABLE;
    return line;
  }
}

const UNREADABLE = "[unreadable]";
const NONE: ReadonlySet<string> = new Set();

function loggableMembers(
  members: object,
  deeper: (part: unknown) => unknown,
  { plain, taken }: { readonly plain: Record<string, unknown>; readonly taken: ReadonlySet<string> } = {
    plain: {},
    taken: NONE,
  },
): Record<string, unknown> {
  const keys = Object.keys(members);
  const shown = Math.min(keys.length, MAX_ITEMS);
  for (let index = 0; index < shown; index += 1) {
    const key = keys[index] as string;
    const part = (members as Readonly<Record<string, unknown>>)[key];
    if (part === undefined) continue;
    const name = taken.has(key) ? `${key}_` : key;
    put(plain, name, isSecretKey(key) ? HIDDEN : typeof part === "string" ? shortText(part) : deeper(part));
  }
  if (keys.length > MAX_ITEMS) plain["..."] = `[${keys.length - MAX_ITEMS} more]`;
  return plain;
}

/** Assigned, this one name would become the prototype instead of a member. */
function put(plain: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(plain, key, { value, enumerable: true, configurable: true });
  else plain[key] = value;
}

function shortText(text: string): string {
  const safe = hideSecrets(text);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}[${safe.length - MAX_TEXT} more]` : safe;
}
