import { createMethod, createFunction, type Overload } from "./overload.ts";
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
  concatLists,
  toMapKey,
  toNumber,
  Uint,
  type CelValue,
} from "../values/values.ts";

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64_MAX = 2n ** 64n - 1n;

export function checkInt(value: bigint): CelValue {
  return value < INT64.min || value > INT64.max ? new CelError("integer overflow") : value;
}

export function checkUint(value: bigint): CelValue {
  return value < 0n || value > UINT64_MAX ? new CelError("unsigned integer overflow") : new Uint(value);
}

type IntegerOperation = (a: bigint, b: bigint) => bigint;

function createIntegerOverloads(name: string, of: IntegerOperation): readonly Overload[] {
  return [
    createFunction(name, [INT, INT], INT, (a: bigint, b: bigint) => checkInt(of(a, b))),
    createFunction(name, [UINT, UINT], UINT, (a: Uint, b: Uint) => checkUint(of(a.value, b.value))),
  ];
}

/** Division and remainder, which fail for zero. */
function createDivisionOverloads(name: string, of: IntegerOperation, byZero: string): readonly Overload[] {
  const divide = (a: bigint, b: bigint, make: (value: bigint) => CelValue): CelValue =>
    b === 0n ? new CelError(byZero) : make(of(a, b));
  return [
    createFunction(name, [INT, INT], INT, (a: bigint, b: bigint) => divide(a, b, checkInt)),
    createFunction(name, [UINT, UINT], UINT, (a: Uint, b: Uint) => divide(a.value, b.value, checkUint)),
  ];
}

const createDoubleOverload = (name: string, of: (a: number, b: number) => number): Overload =>
  createFunction(name, [DOUBLE, DOUBLE], DOUBLE, of);

const ARITHMETIC: readonly Overload[] = [
  ...createIntegerOverloads("_+_", (a, b) => a + b),
  ...createIntegerOverloads("_-_", (a, b) => a - b),
  ...createIntegerOverloads("_*_", (a, b) => a * b),
  ...createDivisionOverloads("_/_", (a, b) => a / b, "division by zero"),
  ...createDivisionOverloads("_%_", (a, b) => a % b, "modulus by zero"),
  createDoubleOverload("_+_", (a, b) => a + b),
  createDoubleOverload("_-_", (a, b) => a - b),
  createDoubleOverload("_*_", (a, b) => a * b),
  createDoubleOverload("_/_", (a, b) => a / b),
  createFunction("-_", [INT], INT, (a: bigint) => checkInt(-a)),
  createFunction("-_", [DOUBLE], DOUBLE, (a: number) => -a),
  createFunction("_+_", [STRING, STRING], STRING, (a: string, b: string) => a + b),
  createFunction("_+_", [BYTES, BYTES], BYTES, (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b])),
  createFunction("_+_", [listOf(A), listOf(A)], listOf(A), concatLists),
  createFunction(
    "_+_",
    [TIMESTAMP, DURATION],
    TIMESTAMP,
    (a: Timestamp, b: Duration) => new Timestamp(a.nanos + b.nanos),
  ),
  createFunction(
    "_+_",
    [DURATION, TIMESTAMP],
    TIMESTAMP,
    (a: Duration, b: Timestamp) => new Timestamp(a.nanos + b.nanos),
  ),
  createFunction("_+_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => new Duration(a.nanos + b.nanos)),
  createFunction(
    "_-_",
    [TIMESTAMP, DURATION],
    TIMESTAMP,
    (a: Timestamp, b: Duration) => new Timestamp(a.nanos - b.nanos),
  ),
  createFunction(
    "_-_",
    [TIMESTAMP, TIMESTAMP],
    DURATION,
    (a: Timestamp, b: Timestamp) => new Duration(a.nanos - b.nanos),
  ),
  createFunction("_-_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => new Duration(a.nanos - b.nanos)),
];

/** Negative when the first comes before the second; NaN when they are not comparable. */
export function compareValues(a: CelValue, b: CelValue): number {
  const [left, right] = [getSortKey(a), getSortKey(b)];
  if (left === undefined || right === undefined) return Number.NaN;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (left < right) return -1;
  return left > right ? 1 : Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : 0;
}

/** Strings are ordered by code points, not by UTF-16 units. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, one] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const by = (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (by !== 0) return by;
  }
  return left.length - right.length;
}

function getSortKey(value: CelValue): bigint | number | string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Uint8Array) return String.fromCodePoint(...value);
  if (value instanceof Timestamp || value instanceof Duration) return value.nanos;
  return toNumber(value);
}

const NUMBERS = [INT, UINT, DOUBLE];
const PAIRS: readonly (readonly [CelType, CelType])[] = [
  ...NUMBERS.flatMap((a) => NUMBERS.map((b) => [a, b] as const)),
  ...[STRING, BOOL, BYTES, TIMESTAMP, DURATION].map((type) => [type, type] as const),
];

const createComparison = (name: string, holds: (by: number) => boolean): readonly Overload[] =>
  PAIRS.map(([a, b]) =>
    createFunction(name, [a, b], BOOL, (left: CelValue, right: CelValue) => holds(compareValues(left, right))),
  );

const COMPARISON: readonly Overload[] = [
  ...createComparison("_<_", (by) => by < 0),
  ...createComparison("_<=_", (by) => by <= 0),
  ...createComparison("_>_", (by) => by > 0),
  ...createComparison("_>=_", (by) => by >= 0),
  createFunction("_==_", [A, A], BOOL, equalValues),
  createFunction("_!=_", [A, A], BOOL, (a: CelValue, b: CelValue) => !equalValues(a, b)),
  createFunction("!_", [BOOL], BOOL, (a: boolean) => !a),
];

const MEMBERSHIP: readonly Overload[] = [
  createFunction("@in", [A, listOf(A)], BOOL, (a: CelValue, list: CelList) =>
    list.items.some((item) => equalValues(a, item)),
  ),
  createFunction("@in", [A, mapOf(A, B)], BOOL, (a: CelValue, map: CelMap) => getMapEntry(map, a) !== undefined),
  createFunction("_[_]", [listOf(A), INT], A, (list: CelList, index: bigint) => {
    const item = index < 0n ? undefined : list.items[Number(index)];
    return item === undefined ? new CelError(`index out of bounds: ${index}`) : item;
  }),
  createFunction(
    "_[_]",
    [mapOf(A, B), A],
    B,
    (map: CelMap, key: CelValue) => getMapEntry(map, key) ?? createMissingKeyError(key),
  ),
];

function getMapEntry({ entries }: CelMap, key: CelValue): CelValue | undefined {
  const mapKey = toMapKey(key);
  return mapKey === undefined ? undefined : entries.get(mapKey);
}

export function createMissingKeyError(key: CelValue): CelError {
  return new CelError(`no such key: ${String(toMapKey(key))}`);
}

const getSize = (value: CelList | CelMap | string | Uint8Array): bigint => {
  if (typeof value === "string") return BigInt(Array.from(value).length);
  if (value instanceof CelList) return BigInt(value.items.length);
  return BigInt(value instanceof CelMap ? value.entries.size : value.length);
};

const SIZE: readonly Overload[] = [STRING, BYTES, listOf(A), mapOf(A, B)].flatMap((type) => [
  createFunction("size", [type], INT, getSize),
  createMethod("size", [type], INT, getSize),
]);

/** All operators and `size`, except `&&`, `||` and `?:`, which the evaluator short-circuits. */
export const OPERATORS: readonly Overload[] = [...ARITHMETIC, ...COMPARISON, ...MEMBERSHIP, ...SIZE];

/** For `dyn`: a selectable object, or nothing. */
export function getMember(value: CelValue, name: string): CelValue | undefined {
  if (value instanceof CelObject) return value.member(name);
  return value instanceof CelMap ? value.entries.get(name) : undefined;
}
