import { addQuantities, compareQuantities, parseQuantity, type Quantity, subtractQuantities } from "@oaas/kube-core";
import { goPattern } from "../../schema/validation/go-pattern.ts";
import { compared, int, OPERATORS, uint } from "./operators.ts";
import { method, plain, type Overload } from "./overload.ts";
import {
  Duration,
  durationText,
  fieldsIn,
  parseDuration,
  parseTimestamp,
  Timestamp,
  timestampText,
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
  typeNameOf,
  type CelValue,
  type Uint,
} from "../values/values.ts";

const list = (items: readonly CelValue[]): CelList => new CelList(items);
const conversionError = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`);

const CONVERSIONS: readonly Overload[] = [
  ...[INT, UINT, DOUBLE, STRING, BYTES, BOOL, TIMESTAMP, DURATION].map((type) =>
    plain(type.name, [type], type, (value: CelValue) => value),
  ),
  plain("dyn", [A], DYN, (value: CelValue) => value),
  plain("type", [A], typeOf(A), (value: CelValue) => new TypeName(typeNameOf(value))),
  plain("int", [STRING], INT, (text: string) =>
    /^[+-]?\d+$/.test(text) ? int(BigInt(text)) : conversionError("string", "int"),
  ),
  plain("int", [UINT], INT, ({ value }: Uint) => int(value)),
  plain("int", [DOUBLE], INT, (value: number) =>
    Math.abs(value) < 2 ** 63 ? int(BigInt(Math.trunc(value))) : new CelError("integer overflow"),
  ),
  plain("int", [TIMESTAMP], INT, ({ nanos }: Timestamp) => int(nanos / 1_000_000_000n)),
  plain("uint", [INT], UINT, (value: bigint) => uint(value)),
  plain("uint", [STRING], UINT, (text: string) =>
    /^\d+$/.test(text) ? uint(BigInt(text)) : conversionError("string", "uint"),
  ),
  plain("uint", [DOUBLE], UINT, (value: number) =>
    value >= 0 && value < 2 ** 64 ? uint(BigInt(Math.trunc(value))) : new CelError("unsigned integer overflow"),
  ),
  plain("double", [INT], DOUBLE, Number),
  plain("double", [UINT], DOUBLE, ({ value }: Uint) => Number(value)),
  plain("double", [STRING], DOUBLE, (text: string) =>
    text.trim() === "" || Number.isNaN(Number(text)) ? conversionError("string", "double") : Number(text),
  ),
  plain("string", [INT], STRING, String),
  plain("string", [UINT], STRING, ({ value }: Uint) => String(value)),
  plain("string", [DOUBLE], STRING, String),
  plain("string", [BOOL], STRING, String),
  plain("string", [BYTES], STRING, (bytes: Uint8Array) => new TextDecoder().decode(bytes)),
  plain("string", [TIMESTAMP], STRING, timestampText),
  plain("string", [DURATION], STRING, durationText),
  plain("bytes", [STRING], BYTES, (text: string) => new TextEncoder().encode(text)),
  plain("bool", [STRING], BOOL, boolOf),
  plain(
    "timestamp",
    [STRING],
    TIMESTAMP,
    (text: string) => parseTimestamp(text) ?? conversionError("string", "timestamp"),
  ),
  plain("timestamp", [INT], TIMESTAMP, (seconds: bigint) => new Timestamp(seconds * 1_000_000_000n)),
  plain("duration", [STRING], DURATION, (text: string) => parseDuration(text) ?? conversionError("string", "duration")),
];

function boolOf(text: string): CelValue {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : conversionError("string", "bool");
}

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

const TEXTS: readonly Overload[] = [
  method("startsWith", [STRING, STRING], BOOL, (text: string, start: string) => text.startsWith(start)),
  method("endsWith", [STRING, STRING], BOOL, (text: string, end: string) => text.endsWith(end)),
  method("contains", [STRING, STRING], BOOL, (text: string, part: string) => text.includes(part)),
  method("matches", [STRING, STRING], BOOL, isMatch),
  plain("matches", [STRING, STRING], BOOL, isMatch),
  method("charAt", [STRING, INT], STRING, (text: string, index: bigint) => {
    const letters = Array.from(text);
    return index < 0n || index > letters.length ? outOfRange(index) : (letters[Number(index)] ?? "");
  }),
  method("indexOf", [STRING, STRING], INT, (text: string, part: string) => firstOf(text, part, 0n)),
  method("indexOf", [STRING, STRING, INT], INT, firstOf),
  method("lastIndexOf", [STRING, STRING], INT, (text: string, part: string) =>
    lastOf(text, part, BigInt(Array.from(text).length)),
  ),
  method("lastIndexOf", [STRING, STRING, INT], INT, lastOf),
  method("lowerAscii", [STRING], STRING, (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())),
  method("upperAscii", [STRING], STRING, (text: string) => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())),
  method("replace", [STRING, STRING, STRING], STRING, (text: string, from: string, to: string) =>
    replaced(text, from, to, -1n),
  ),
  method("replace", [STRING, STRING, STRING, INT], STRING, replaced),
  method("split", [STRING, STRING], listOf(STRING), (text: string, by: string) => split(text, by, -1n)),
  method("split", [STRING, STRING, INT], listOf(STRING), split),
  method("substring", [STRING, INT], STRING, (text: string, start: bigint) =>
    substring(text, start, BigInt(Array.from(text).length)),
  ),
  method("substring", [STRING, INT, INT], STRING, substring),
  method("trim", [STRING], STRING, (text: string) => text.trim()),
  method("join", [listOf(STRING)], STRING, ({ items }: CelList) => (items as string[]).join("")),
  method("join", [listOf(STRING), STRING], STRING, ({ items }: CelList, by: string) => (items as string[]).join(by)),
  method("find", [STRING, STRING], STRING, (text: string, pattern: string) =>
    matching(pattern, (regex) => regex.exec(text)?.[0] ?? ""),
  ),
  method("findAll", [STRING, STRING], listOf(STRING), (text: string, pattern: string) => found(text, pattern, -1n)),
  method("findAll", [STRING, STRING, INT], listOf(STRING), found),
];

function matching(pattern: string, use: (regex: RegExp) => CelValue): CelValue {
  const regex = goPattern(pattern);
  return regex ? use(regex) : new CelError(`error parsing regexp: \`${pattern}\``);
}

function isMatch(text: string, pattern: string): CelValue {
  return matching(pattern, (regex) => regex.test(text));
}

function found(text: string, pattern: string, most: bigint): CelValue {
  return matching(pattern, (regex) => {
    const all = Array.from(text.matchAll(new RegExp(regex.source, `${regex.flags}g`)), ([whole]) => whole);
    return list(most < 0n ? all : all.slice(0, Number(most)));
  });
}

function firstOf(text: string, part: string, from: bigint): CelValue {
  const letters = Array.from(text);
  if (from < 0n || from > letters.length) return outOfRange(from);
  const before = letters.slice(0, Number(from)).join("");
  const at = letters.slice(Number(from)).join("").indexOf(part);
  return at < 0 ? -1n : BigInt(Array.from(text.slice(0, before.length + at)).length);
}

function lastOf(text: string, part: string, from: bigint): CelValue {
  const letters = Array.from(text);
  if (from < 0n || from > letters.length) return outOfRange(from);
  const at = text.lastIndexOf(part, letters.slice(0, Number(from)).join("").length);
  return at < 0 ? -1n : BigInt(Array.from(text.slice(0, at)).length);
}

function replaced(text: string, from: string, to: string, most: bigint): CelValue {
  const parts = text.split(from);
  const count = most < 0n ? parts.length - 1 : Math.min(Number(most), parts.length - 1);
  const head = parts.slice(0, count + 1).join(to);
  return [head, ...parts.slice(count + 1)].join(from);
}

function split(text: string, by: string, most: bigint): CelValue {
  if (most === 0n) return list([]);
  const parts = text.split(by);
  if (most < 0n || parts.length <= Number(most)) return list(parts);
  return list([...parts.slice(0, Number(most) - 1), parts.slice(Number(most) - 1).join(by)]);
}

function substring(text: string, start: bigint, end: bigint): CelValue {
  const letters = Array.from(text);
  if (start < 0n || start > letters.length) return outOfRange(start);
  if (end < 0n || end > letters.length) return outOfRange(end);
  if (start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  return letters.slice(Number(start), Number(end)).join("");
}

const ORDERED: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, TIMESTAMP, DURATION];

const LISTS: readonly Overload[] = [
  ...ORDERED.flatMap((type): Overload[] => [
    method("isSorted", [listOf(type)], BOOL, ({ items }: CelList) =>
      items.every((item, index) => index === 0 || compared(items[index - 1] ?? null, item) <= 0),
    ),
    method("min", [listOf(type)], type, ({ items }: CelList) => extreme("min", items, -1)),
    method("max", [listOf(type)], type, ({ items }: CelList) => extreme("max", items, 1)),
    method("sort", [listOf(type)], listOf(type), ({ items }: CelList) => list([...items].sort(compared))),
  ]),
  method("sum", [listOf(INT)], INT, ({ items }: CelList) =>
    int((items as bigint[]).reduce((sum, item) => sum + item, 0n)),
  ),
  method("sum", [listOf(UINT)], UINT, ({ items }: CelList) =>
    uint((items as Uint[]).reduce((sum, { value }) => sum + value, 0n)),
  ),
  method("sum", [listOf(DOUBLE)], DOUBLE, ({ items }: CelList) =>
    (items as number[]).reduce((sum, item) => sum + item, 0),
  ),
  method(
    "sum",
    [listOf(DURATION)],
    DURATION,
    ({ items }: CelList) => new Duration((items as Duration[]).reduce((sum, { nanos }) => sum + nanos, 0n)),
  ),
  method("indexOf", [listOf(A), A], INT, ({ items }: CelList, wanted: CelValue) =>
    BigInt(items.findIndex((item) => equalValues(item, wanted))),
  ),
  method("lastIndexOf", [listOf(A), A], INT, ({ items }: CelList, wanted: CelValue) =>
    BigInt(items.findLastIndex((item) => equalValues(item, wanted))),
  ),
  method("distinct", [listOf(A)], listOf(A), ({ items }: CelList) =>
    list(items.filter((item, index) => items.findIndex((other) => equalValues(item, other)) === index)),
  ),
  method("reverse", [listOf(A)], listOf(A), ({ items }: CelList) => list([...items].reverse())),
  method("slice", [listOf(A), INT, INT], listOf(A), ({ items }: CelList, start: bigint, end: bigint) => {
    if (start < 0n || end < 0n) return new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
    if (start > end)
      return new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
    if (end > items.length) return new CelError(`cannot slice(${start}, ${end}), list is length ${items.length}`);
    return list(items.slice(Number(start), Number(end)));
  }),
  method("flatten", [listOf(listOf(A))], listOf(A), ({ items }: CelList) =>
    list(items.flatMap((item) => (item instanceof CelList ? item.items : [item]))),
  ),
];

function extreme(name: string, items: readonly CelValue[], sign: 1 | -1): CelValue {
  const [first, ...rest] = items;
  if (first === undefined) return new CelError(`${name} called on empty list`);
  return rest.reduce((best, item) => (compared(item, best) * sign > 0 ? item : best), first);
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
    const read = (moment: Timestamp, zone: string): CelValue => {
      const date = fieldsIn(moment, zone);
      return date ? BigInt(field(date)) : new CelError(`unknown time zone ${zone}`);
    };
    return [
      method(name, [TIMESTAMP], INT, (moment: Timestamp) => read(moment, "UTC")),
      method(name, [TIMESTAMP, STRING], INT, read),
    ];
  }),
  ...Object.entries(SPANS).map(([name, unit]) => method(name, [DURATION], INT, ({ nanos }: Duration) => nanos / unit)),
  method("getMilliseconds", [DURATION], INT, ({ nanos }: Duration) => (nanos / 1_000_000n) % 1000n),
];

const NANO = 10n ** 9n;
const amount = (of: (a: Quantity, b: Quantity) => Quantity) => (a: Amount, b: Amount) =>
  new Amount(of(a.quantity, b.quantity));
const amountAndInt = (of: (a: Quantity, b: Quantity) => Quantity) => (a: Amount, b: bigint) =>
  new Amount(of(a.quantity, { nano: b * NANO, format: "DecimalSI" }));
const byComparing = (of: (by: number) => CelValue) => (a: Amount, b: Amount) =>
  of(compareQuantities(a.quantity, b.quantity));
const isWhole = ({ quantity }: Amount): boolean => {
  const whole = int(quantity.nano / NANO);
  return quantity.nano % NANO === 0n && !(whole instanceof CelError);
};

const QUANTITIES: readonly Overload[] = [
  plain("isQuantity", [STRING], BOOL, (text: string) => parseQuantity(text).ok),
  plain("quantity", [STRING], QUANTITY, (text: string) => {
    const read = parseQuantity(text);
    return read.ok
      ? new Amount(read.value)
      : new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }),
  method(
    "compareTo",
    [QUANTITY, QUANTITY],
    INT,
    byComparing((by) => BigInt(Math.sign(by))),
  ),
  method(
    "isLessThan",
    [QUANTITY, QUANTITY],
    BOOL,
    byComparing((by) => by < 0),
  ),
  method(
    "isGreaterThan",
    [QUANTITY, QUANTITY],
    BOOL,
    byComparing((by) => by > 0),
  ),
  method("isInteger", [QUANTITY], BOOL, isWhole),
  method("asInteger", [QUANTITY], INT, (value: Amount) =>
    isWhole(value) ? value.quantity.nano / NANO : new CelError("cannot convert value to integer"),
  ),
  method("asApproximateFloat", [QUANTITY], DOUBLE, ({ quantity }: Amount) => Number(quantity.nano) / 1e9),
  method("add", [QUANTITY, QUANTITY], QUANTITY, amount(addQuantities)),
  method("add", [QUANTITY, INT], QUANTITY, amountAndInt(addQuantities)),
  method("sub", [QUANTITY, QUANTITY], QUANTITY, amount(subtractQuantities)),
  method("sub", [QUANTITY, INT], QUANTITY, amountAndInt(subtractQuantities)),
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

/** Functions that only the real server supports. A rule that uses one is rejected with a message, never misjudged. */
export const NOT_SUPPORTED: ReadonlySet<string> = new Set(
  "url isURL ip isIP cidr isCIDR optional sets format semver isSemver authorizer".split(" "),
);
