import { faultFields } from "./fault-fields.ts";
import { RESERVED_FIELDS } from "./log-fields.ts";
import { isSecretKey, REDACTED, redactText } from "./secrets.ts";

const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 8192;
const UNREADABLE = "[unreadable]";

/** Converts the fields of a log line to plain JSON, see `toLogValue`. Renames reserved fields. Never throws. */
export function toLogFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const converted = toLogValue(fields);
  if (typeof converted !== "object" || converted === null) return { fields: converted };
  return Object.fromEntries(
    Object.entries(converted).map(([key, value]) => [RESERVED_FIELDS.has(key) ? `${key}_` : key, value]),
  );
}

/**
 * Converts any value to plain JSON for a log line.
 *
 * Guarantees: never throws; truncates cycles, depth and length with a marker; redacts values of secret keys and
 * credentials inside texts at every depth; includes the causes of faults and errors. pino's `redact` option cannot
 * replace this: it takes fixed paths, while our fields contain objects of any shape.
 */
export function toLogValue(value: unknown, depth = 0, ancestors: readonly object[] = []): unknown {
  switch (typeof value) {
    case "string":
      return truncateText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : objectToLogValue(value, depth, ancestors);
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

type Convert = (part: unknown) => unknown;

function objectToLogValue(value: object, depth: number, ancestors: readonly object[]): unknown {
  if (ancestors.includes(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[too deep]";
  const path = [...ancestors, value];
  const convert: Convert = (part) => toLogValue(part, depth + 1, path);
  try {
    if (value instanceof Error) return faultFields(value, convert);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof URL) return truncateText(value.href);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value)) return convertItems(value, convert);
    if (value instanceof Set) return convertItems([...value], convert);
    return convertMembers(value instanceof Map ? [...value] : Object.entries(value), convert);
  } catch {
    return UNREADABLE;
  }
}

function convertItems(items: readonly unknown[], convert: Convert): unknown[] {
  const converted = items.slice(0, MAX_ITEMS).map((item) => convert(item));
  return items.length > MAX_ITEMS ? [...converted, `[${items.length - MAX_ITEMS} more]`] : converted;
}

function convertMembers(members: readonly (readonly [unknown, unknown])[], convert: Convert): Record<string, unknown> {
  const converted = members
    .slice(0, MAX_ITEMS)
    .filter(([, part]) => part !== undefined)
    .map(([key, part]) => [String(key), isSecretKey(String(key)) ? REDACTED : convert(part)]);
  if (members.length > MAX_ITEMS) converted.push(["...", `[${members.length - MAX_ITEMS} more]`]);
  return Object.fromEntries(converted) as Record<string, unknown>;
}

function truncateText(text: string): string {
  const safe = redactText(text);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}[${safe.length - MAX_TEXT} more]` : safe;
}
