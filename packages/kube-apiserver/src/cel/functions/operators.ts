import { method, plain, type Overload } from "./overload.ts";
import { Duration, Timestamp } from "../values/time.ts";
import {
  A,
  B,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  UINT,
  type CelType,
} from "../values/types.ts";
import {
  CelError,
  CelList,
  CelMap,
  CelObject,
  equalValues,
  joinedLists,
  keyValue,
  numeric,
  Uint,
  type CelValue,
} from "../values/values.ts";

const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const UINT64_MOST = 2n ** 64n - 1n;

export function int(value: bigint): CelValue {
  return value < INT64.least || value > INT64.most ? new CelError("integer overflow") : value;
}

export function uint(value: bigint): CelValue {
  return value < 0n || value > UINT64_MOST ? new CelError("unsigned integer overflow") : new Uint(value);
}

type Whole = (a: bigint, b: bigint) => bigint;

function wholeArithmetic(name: string, of: Whole): readonly Overload[] {
  return [
    plain(name, [INT, INT], INT, (a: bigint, b: bigint) => int(of(a, b))),
    plain(name, [UINT, UINT], UINT, (a: Uint, b: Uint) => uint(of(a.value, b.value))),
  ];
}

/** Division and remainder, which fail for zero. */
function wholeDivision(name: string, of: Whole, byZero: string): readonly Overload[] {
  const guarded = (a: bigint, b: bigint, make: (value: bigint) => CelValue): CelValue =>
    b === 0n ? new CelError(byZero) : make(of(a, b));
  return [
    plain(name, [INT, INT], INT, (a: bigint, b: bigint) => guarded(a, b, int)),
    plain(name, [UINT, UINT], UINT, (a: Uint, b: Uint) => guarded(a.value, b.value, uint)),
  ];
}

const doubles = (name: string, of: (a: number, b: number) => number): Overload =>
  plain(name, [DOUBLE, DOUBLE], DOUBLE, of);

const ARITHMETIC: readonly Overload[] = [
  ...wholeArithmetic("_+_", (a, b) => a + b),
  ...wholeArithmetic("_-_", (a, b) => a - b),
  ...wholeArithmetic("_*_", (a, b) => a * b),
  ...wholeDivision("_/_", (a, b) => a / b, "division by zero"),
  ...wholeDivision("_%_", (a, b) => a % b, "modulus by zero"),
  doubles("_+_", (a, b) => a + b),
  doubles("_-_", (a, b) => a - b),
  doubles("_*_", (a, b) => a * b),
  doubles("_/_", (a, b) => a / b),
  plain("-_", [INT], INT, (a: bigint) => int(-a)),
  plain("-_", [DOUBLE], DOUBLE, (a: number) => -a),
  plain("_+_", [STRING, STRING], STRING, (a: string, b: string) => a + b),
  plain("_+_", [BYTES, BYTES], BYTES, (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b])),
  plain("_+_", [listOf(A), listOf(A)], listOf(A), joinedLists),
  plain("_+_", [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => new Timestamp(a.nanos + b.nanos)),
  plain("_+_", [DURATION, TIMESTAMP], TIMESTAMP, (a: Duration, b: Timestamp) => new Timestamp(a.nanos + b.nanos)),
  plain("_+_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => new Duration(a.nanos + b.nanos)),
  plain("_-_", [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => new Timestamp(a.nanos - b.nanos)),
  plain("_-_", [TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) => new Duration(a.nanos - b.nanos)),
  plain("_-_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => new Duration(a.nanos - b.nanos)),
];

/** Negative when the first comes before the second; NaN when they are not comparable. */
export function compared(a: CelValue, b: CelValue): number {
  const [left, right] = [orderOf(a), orderOf(b)];
  if (left === undefined || right === undefined) return Number.NaN;
  if (typeof left === "string" && typeof right === "string") return comparedTexts(left, right);
  if (left < right) return -1;
  return left > right ? 1 : Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : 0;
}

/** Strings are ordered by code points, not by UTF-16 units. */
function comparedTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, one] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const by = (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (by !== 0) return by;
  }
  return left.length - right.length;
}

function orderOf(value: CelValue): bigint | number | string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Uint8Array) return String.fromCodePoint(...value);
  if (value instanceof Timestamp || value instanceof Duration) return value.nanos;
  return numeric(value);
}

const NUMBERS = [INT, UINT, DOUBLE];
const PAIRS: readonly (readonly [CelType, CelType])[] = [
  ...NUMBERS.flatMap((a) => NUMBERS.map((b) => [a, b] as const)),
  ...[STRING, BOOL, BYTES, TIMESTAMP, DURATION].map((type) => [type, type] as const),
];

const order = (name: string, holds: (by: number) => boolean): readonly Overload[] =>
  PAIRS.map(([a, b]) => plain(name, [a, b], BOOL, (left: CelValue, right: CelValue) => holds(compared(left, right))));

const COMPARISON: readonly Overload[] = [
  ...order("_<_", (by) => by < 0),
  ...order("_<=_", (by) => by <= 0),
  ...order("_>_", (by) => by > 0),
  ...order("_>=_", (by) => by >= 0),
  plain("_==_", [A, A], BOOL, equalValues),
  plain("_!=_", [A, A], BOOL, (a: CelValue, b: CelValue) => !equalValues(a, b)),
  plain("!_", [BOOL], BOOL, (a: boolean) => !a),
];

const MEMBERSHIP: readonly Overload[] = [
  plain("@in", [A, listOf(A)], BOOL, (a: CelValue, list: CelList) => list.items.some((item) => equalValues(a, item))),
  plain("@in", [A, mapOf(A, B)], BOOL, (a: CelValue, map: CelMap) => memberOfMap(map, a) !== undefined),
  plain("_[_]", [listOf(A), INT], A, (list: CelList, index: bigint) => {
    const item = index < 0n ? undefined : list.items[Number(index)];
    return item === undefined ? new CelError(`index out of bounds: ${index}`) : item;
  }),
  plain("_[_]", [mapOf(A, B), A], B, (map: CelMap, key: CelValue) => memberOfMap(map, key) ?? missingKey(key)),
];

function memberOfMap({ entries }: CelMap, key: CelValue): CelValue | undefined {
  const known = keyValue(key);
  return known === undefined ? undefined : entries.get(known);
}

export function missingKey(key: CelValue): CelError {
  return new CelError(`no such key: ${String(keyValue(key))}`);
}

const count = (value: CelList | CelMap | string | Uint8Array): bigint => {
  if (typeof value === "string") return BigInt(Array.from(value).length);
  if (value instanceof CelList) return BigInt(value.items.length);
  return BigInt(value instanceof CelMap ? value.entries.size : value.length);
};

const SIZE: readonly Overload[] = [STRING, BYTES, listOf(A), mapOf(A, B)].flatMap((type) => [
  plain("size", [type], INT, count),
  method("size", [type], INT, count),
]);

/** All operators and `size`, except `&&`, `||` and `?:`, which the evaluator short-circuits. */
export const OPERATORS: readonly Overload[] = [...ARITHMETIC, ...COMPARISON, ...MEMBERSHIP, ...SIZE];

/** For `dyn`: a selectable object, or nothing. */
export function memberOfValue(value: CelValue, name: string): CelValue | undefined {
  if (value instanceof CelObject) return value.member(name);
  return value instanceof CelMap ? value.entries.get(name) : undefined;
}
