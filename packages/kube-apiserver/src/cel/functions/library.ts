import { addQuantities, compareQuantities, parseQuantity, type Quantity, subtractQuantities } from "@oaas/kube-core";
import { compileGoPattern } from "../../schema/validation/go-pattern.ts";
import { compareValues, checkInt, OPERATORS, checkUint } from "./operators.ts";
import { createMethod, createFunction, type Overload } from "./overload.ts";
import {
  Duration,
  formatDuration,
  toZonedDate,
  parseDuration,
  parseTimestamp,
  Timestamp,
  formatTimestamp,
} from "../values/time.ts";
import {
  A,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  QUANTITY,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  type CelType,
} from "../values/types.ts";
import {
  Amount,
  CelError,
  CelList,
  equalValues,
  TypeName,
  getTypeName,
  type CelValue,
  type Uint,
} from "../values/values.ts";

const createList = (items: readonly CelValue[]): CelList => new CelList(items);
const createConversionError = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`);

const CONVERSIONS: readonly Overload[] = [
  ...[INT, UINT, DOUBLE, STRING, BYTES, BOOL, TIMESTAMP, DURATION].map((type) =>
    createFunction(type.name, [type], type, (value: CelValue) => value),
  ),
  createFunction("dyn", [A], DYN, (value: CelValue) => value),
  createFunction("type", [A], typeOf(A), (value: CelValue) => new TypeName(getTypeName(value))),
  createFunction("int", [STRING], INT, (text: string) =>
    /^[+-]?\d+$/.test(text) ? checkInt(BigInt(text)) : createConversionError("string", "int"),
  ),
  createFunction("int", [UINT], INT, ({ value }: Uint) => checkInt(value)),
  createFunction("int", [DOUBLE], INT, (value: number) =>
    Math.abs(value) < 2 ** 63 ? checkInt(BigInt(Math.trunc(value))) : new CelError("integer overflow"),
  ),
  createFunction("int", [TIMESTAMP], INT, ({ nanos }: Timestamp) => checkInt(nanos / 1_000_000_000n)),
  createFunction("uint", [INT], UINT, (value: bigint) => checkUint(value)),
  createFunction("uint", [STRING], UINT, (text: string) =>
    /^\d+$/.test(text) ? checkUint(BigInt(text)) : createConversionError("string", "uint"),
  ),
  createFunction("uint", [DOUBLE], UINT, (value: number) =>
    value >= 0 && value < 2 ** 64 ? checkUint(BigInt(Math.trunc(value))) : new CelError("unsigned integer overflow"),
  ),
  createFunction("double", [INT], DOUBLE, Number),
  createFunction("double", [UINT], DOUBLE, ({ value }: Uint) => Number(value)),
  createFunction("double", [STRING], DOUBLE, (text: string) =>
    text.trim() === "" || Number.isNaN(Number(text)) ? createConversionError("string", "double") : Number(text),
  ),
  createFunction("string", [INT], STRING, String),
  createFunction("string", [UINT], STRING, ({ value }: Uint) => String(value)),
  createFunction("string", [DOUBLE], STRING, String),
  createFunction("string", [BOOL], STRING, String),
  createFunction("string", [BYTES], STRING, (bytes: Uint8Array) => new TextDecoder().decode(bytes)),
  createFunction("string", [TIMESTAMP], STRING, formatTimestamp),
  createFunction("string", [DURATION], STRING, formatDuration),
  createFunction("bytes", [STRING], BYTES, (text: string) => new TextEncoder().encode(text)),
  createFunction("bool", [STRING], BOOL, parseBool),
  createFunction(
    "timestamp",
    [STRING],
    TIMESTAMP,
    (text: string) => parseTimestamp(text) ?? createConversionError("string", "timestamp"),
  ),
  createFunction("timestamp", [INT], TIMESTAMP, (seconds: bigint) => new Timestamp(seconds * 1_000_000_000n)),
  createFunction(
    "duration",
    [STRING],
    DURATION,
    (text: string) => parseDuration(text) ?? createConversionError("string", "duration"),
  ),
];

function parseBool(text: string): CelValue {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : createConversionError("string", "bool");
}

const createRangeError = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

const TEXTS: readonly Overload[] = [
  createMethod("startsWith", [STRING, STRING], BOOL, (text: string, start: string) => text.startsWith(start)),
  createMethod("endsWith", [STRING, STRING], BOOL, (text: string, end: string) => text.endsWith(end)),
  createMethod("contains", [STRING, STRING], BOOL, (text: string, part: string) => text.includes(part)),
  createMethod("matches", [STRING, STRING], BOOL, matchesPattern),
  createFunction("matches", [STRING, STRING], BOOL, matchesPattern),
  createMethod("charAt", [STRING, INT], STRING, (text: string, index: bigint) => {
    const letters = Array.from(text);
    return index < 0n || index > letters.length ? createRangeError(index) : (letters[Number(index)] ?? "");
  }),
  createMethod("indexOf", [STRING, STRING], INT, (text: string, part: string) => indexOf(text, part, 0n)),
  createMethod("indexOf", [STRING, STRING, INT], INT, indexOf),
  createMethod("lastIndexOf", [STRING, STRING], INT, (text: string, part: string) =>
    lastIndexOf(text, part, BigInt(Array.from(text).length)),
  ),
  createMethod("lastIndexOf", [STRING, STRING, INT], INT, lastIndexOf),
  createMethod("lowerAscii", [STRING], STRING, (text: string) =>
    text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  ),
  createMethod("upperAscii", [STRING], STRING, (text: string) =>
    text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
  ),
  createMethod("replace", [STRING, STRING, STRING], STRING, (text: string, from: string, to: string) =>
    replace(text, from, to, -1n),
  ),
  createMethod("replace", [STRING, STRING, STRING, INT], STRING, replace),
  createMethod("split", [STRING, STRING], listOf(STRING), (text: string, by: string) => split(text, by, -1n)),
  createMethod("split", [STRING, STRING, INT], listOf(STRING), split),
  createMethod("substring", [STRING, INT], STRING, (text: string, start: bigint) =>
    substring(text, start, BigInt(Array.from(text).length)),
  ),
  createMethod("substring", [STRING, INT, INT], STRING, substring),
  createMethod("trim", [STRING], STRING, (text: string) => text.trim()),
  createMethod("join", [listOf(STRING)], STRING, ({ items }: CelList) => (items as string[]).join("")),
  createMethod("join", [listOf(STRING), STRING], STRING, ({ items }: CelList, by: string) =>
    (items as string[]).join(by),
  ),
  createMethod("find", [STRING, STRING], STRING, (text: string, pattern: string) =>
    withPattern(pattern, (regex) => regex.exec(text)?.[0] ?? ""),
  ),
  createMethod("findAll", [STRING, STRING], listOf(STRING), (text: string, pattern: string) =>
    findAll(text, pattern, -1n),
  ),
  createMethod("findAll", [STRING, STRING, INT], listOf(STRING), findAll),
];

function withPattern(pattern: string, use: (regex: RegExp) => CelValue): CelValue {
  const regex = compileGoPattern(pattern);
  return regex ? use(regex) : new CelError(`error parsing regexp: \`${pattern}\``);
}

function matchesPattern(text: string, pattern: string): CelValue {
  return withPattern(pattern, (regex) => regex.test(text));
}

function findAll(text: string, pattern: string, limit: bigint): CelValue {
  return withPattern(pattern, (regex) => {
    const all = Array.from(text.matchAll(new RegExp(regex.source, `${regex.flags}g`)), ([whole]) => whole);
    return createList(limit < 0n ? all : all.slice(0, Number(limit)));
  });
}

function indexOf(text: string, part: string, from: bigint): CelValue {
  const letters = Array.from(text);
  if (from < 0n || from > letters.length) return createRangeError(from);
  const before = letters.slice(0, Number(from)).join("");
  const at = letters.slice(Number(from)).join("").indexOf(part);
  return at < 0 ? -1n : BigInt(Array.from(text.slice(0, before.length + at)).length);
}

function lastIndexOf(text: string, part: string, from: bigint): CelValue {
  const letters = Array.from(text);
  if (from < 0n || from > letters.length) return createRangeError(from);
  const at = text.lastIndexOf(part, letters.slice(0, Number(from)).join("").length);
  return at < 0 ? -1n : BigInt(Array.from(text.slice(0, at)).length);
}

function replace(text: string, from: string, to: string, limit: bigint): CelValue {
  const parts = text.split(from);
  const count = limit < 0n ? parts.length - 1 : Math.min(Number(limit), parts.length - 1);
  const head = parts.slice(0, count + 1).join(to);
  return [head, ...parts.slice(count + 1)].join(from);
}

function split(text: string, by: string, limit: bigint): CelValue {
  if (limit === 0n) return createList([]);
  const parts = text.split(by);
  if (limit < 0n || parts.length <= Number(limit)) return createList(parts);
  return createList([...parts.slice(0, Number(limit) - 1), parts.slice(Number(limit) - 1).join(by)]);
}

function substring(text: string, start: bigint, end: bigint): CelValue {
  const letters = Array.from(text);
  if (start < 0n || start > letters.length) return createRangeError(start);
  if (end < 0n || end > letters.length) return createRangeError(end);
  if (start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  return letters.slice(Number(start), Number(end)).join("");
}

const ORDERED: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, TIMESTAMP, DURATION];

const LISTS: readonly Overload[] = [
  ...ORDERED.flatMap((type): Overload[] => [
    createMethod("isSorted", [listOf(type)], BOOL, ({ items }: CelList) =>
      items.every((item, index) => index === 0 || compareValues(items[index - 1] ?? null, item) <= 0),
    ),
    createMethod("min", [listOf(type)], type, ({ items }: CelList) => findExtreme("min", items, -1)),
    createMethod("max", [listOf(type)], type, ({ items }: CelList) => findExtreme("max", items, 1)),
    createMethod("sort", [listOf(type)], listOf(type), ({ items }: CelList) =>
      createList([...items].sort(compareValues)),
    ),
  ]),
  createMethod("sum", [listOf(INT)], INT, ({ items }: CelList) =>
    checkInt((items as bigint[]).reduce((sum, item) => sum + item, 0n)),
  ),
  createMethod("sum", [listOf(UINT)], UINT, ({ items }: CelList) =>
    checkUint((items as Uint[]).reduce((sum, { value }) => sum + value, 0n)),
  ),
  createMethod("sum", [listOf(DOUBLE)], DOUBLE, ({ items }: CelList) =>
    (items as number[]).reduce((sum, item) => sum + item, 0),
  ),
  createMethod(
    "sum",
    [listOf(DURATION)],
    DURATION,
    ({ items }: CelList) => new Duration((items as Duration[]).reduce((sum, { nanos }) => sum + nanos, 0n)),
  ),
  createMethod("indexOf", [listOf(A), A], INT, ({ items }: CelList, value: CelValue) =>
    BigInt(items.findIndex((item) => equalValues(item, value))),
  ),
  createMethod("lastIndexOf", [listOf(A), A], INT, ({ items }: CelList, value: CelValue) =>
    BigInt(items.findLastIndex((item) => equalValues(item, value))),
  ),
  createMethod("distinct", [listOf(A)], listOf(A), ({ items }: CelList) =>
    createList(items.filter((item, index) => items.findIndex((other) => equalValues(item, other)) === index)),
  ),
  createMethod("reverse", [listOf(A)], listOf(A), ({ items }: CelList) => createList([...items].reverse())),
  createMethod("slice", [listOf(A), INT, INT], listOf(A), ({ items }: CelList, start: bigint, end: bigint) => {
    if (start < 0n || end < 0n) return new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
    if (start > end)
      return new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
    if (end > items.length) return new CelError(`cannot slice(${start}, ${end}), list is length ${items.length}`);
    return createList(items.slice(Number(start), Number(end)));
  }),
  createMethod("flatten", [listOf(listOf(A))], listOf(A), ({ items }: CelList) =>
    createList(items.flatMap((item) => (item instanceof CelList ? item.items : [item]))),
  ),
];

function findExtreme(name: string, items: readonly CelValue[], sign: 1 | -1): CelValue {
  const [first, ...rest] = items;
  if (first === undefined) return new CelError(`${name} called on empty list`);
  return rest.reduce((best, item) => (compareValues(item, best) * sign > 0 ? item : best), first);
}

/** Fields of a timestamp; as CEL defines, months, days of the week and of the year start at 0, dates at 1. */
const TIME_FIELDS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

const SPANS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

const TIMES: readonly Overload[] = [
  ...Object.entries(TIME_FIELDS).flatMap(([name, field]): Overload[] => {
    const read = (timestamp: Timestamp, zone: string): CelValue => {
      const date = toZonedDate(timestamp, zone);
      return date ? BigInt(field(date)) : new CelError(`unknown time zone ${zone}`);
    };
    return [
      createMethod(name, [TIMESTAMP], INT, (timestamp: Timestamp) => read(timestamp, "UTC")),
      createMethod(name, [TIMESTAMP, STRING], INT, read),
    ];
  }),
  ...Object.entries(SPANS).map(([name, unit]) =>
    createMethod(name, [DURATION], INT, ({ nanos }: Duration) => nanos / unit),
  ),
  createMethod("getMilliseconds", [DURATION], INT, ({ nanos }: Duration) => (nanos / 1_000_000n) % 1000n),
];

const NANO = 10n ** 9n;
const withQuantities = (of: (a: Quantity, b: Quantity) => Quantity) => (a: Amount, b: Amount) =>
  new Amount(of(a.quantity, b.quantity));
const withQuantityAndInt = (of: (a: Quantity, b: Quantity) => Quantity) => (a: Amount, b: bigint) =>
  new Amount(of(a.quantity, { nano: b * NANO, format: "DecimalSI" }));
const withComparison = (of: (by: number) => CelValue) => (a: Amount, b: Amount) =>
  of(compareQuantities(a.quantity, b.quantity));
const isWhole = ({ quantity }: Amount): boolean => {
  const whole = checkInt(quantity.nano / NANO);
  return quantity.nano % NANO === 0n && !(whole instanceof CelError);
};

const QUANTITIES: readonly Overload[] = [
  createFunction("isQuantity", [STRING], BOOL, (text: string) => parseQuantity(text).ok),
  createFunction("quantity", [STRING], QUANTITY, (text: string) => {
    const read = parseQuantity(text);
    return read.ok
      ? new Amount(read.value)
      : new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }),
  createMethod(
    "compareTo",
    [QUANTITY, QUANTITY],
    INT,
    withComparison((by) => BigInt(Math.sign(by))),
  ),
  createMethod(
    "isLessThan",
    [QUANTITY, QUANTITY],
    BOOL,
    withComparison((by) => by < 0),
  ),
  createMethod(
    "isGreaterThan",
    [QUANTITY, QUANTITY],
    BOOL,
    withComparison((by) => by > 0),
  ),
  createMethod("isInteger", [QUANTITY], BOOL, isWhole),
  createMethod("asInteger", [QUANTITY], INT, (value: Amount) =>
    isWhole(value) ? value.quantity.nano / NANO : new CelError("cannot convert value to integer"),
  ),
  createMethod("asApproximateFloat", [QUANTITY], DOUBLE, ({ quantity }: Amount) => Number(quantity.nano) / 1e9),
  createMethod("add", [QUANTITY, QUANTITY], QUANTITY, withQuantities(addQuantities)),
  createMethod("add", [QUANTITY, INT], QUANTITY, withQuantityAndInt(addQuantities)),
  createMethod("sub", [QUANTITY, QUANTITY], QUANTITY, withQuantities(subtractQuantities)),
  createMethod("sub", [QUANTITY, INT], QUANTITY, withQuantityAndInt(subtractQuantities)),
];

const ALL: readonly Overload[] = [...OPERATORS, ...CONVERSIONS, ...TEXTS, ...LISTS, ...TIMES, ...QUANTITIES];

/** Every function of an expression, by name. */
export const LIBRARY: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(ALL, ({ name }) => name);

/** Types by name, as in `type(x) == int`. */
export const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ...[INT, UINT, DOUBLE, STRING, BYTES, BOOL].map((type) => [type.name, type] as const),
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["null_type", NULL],
  ["type", typeOf(A)],
]);

/** Functions that only the real server supports. A rule that uses one is rejected with a message. */
export const NOT_SUPPORTED: ReadonlySet<string> = new Set(
  "url isURL ip isIP cidr isCIDR optional sets format semver isSemver authorizer".split(" "),
);
