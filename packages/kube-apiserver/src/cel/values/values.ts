import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf, type Quantity } from "@oaas/kube-core";
import { additionalOf, type StructuralSchema } from "../../schema/structural-schema.ts";
import { getDeclaredType } from "./declared-type.ts";
import { Duration, parseDuration, parseTimestamp, Timestamp } from "./time.ts";
import type { CelField, CelType } from "./types.ts";

/** Values of expressions. Integers are bigints, exact beyond 53 bits; doubles are numbers. */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | Amount
  | TypeName
  | CelList
  | CelMap
  | CelObject
  | CelError;

/** An evaluation error; it propagates like a value, and `&&` and `||` may absorb it. */
export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Amount {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

export class TypeName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A list; with keys its items are identified by them, and a set is unordered. */
export class CelList {
  readonly items: readonly CelValue[];
  readonly isSet: boolean;
  readonly keys: readonly string[];
  constructor(
    items: readonly CelValue[],
    { isSet = false, keys = [] }: { isSet?: boolean; keys?: readonly string[] } = {},
  ) {
    this.items = items;
    this.isSet = isSet;
    this.keys = keys;
  }
}

/** A map; equal numbers of any type are the same key. */
export class CelMap {
  readonly entries: ReadonlyMap<bigint | string | boolean | number, CelValue>;
  constructor(entries: CelMap["entries"]) {
    this.entries = entries;
  }
}

/** An object of a document, read lazily. */
export class CelObject {
  readonly #json: JsonObject;
  readonly #fields: ReadonlyMap<string, CelField>;
  readonly #read = new Map<string, CelValue | undefined>();

  constructor(json: JsonObject, fields: ReadonlyMap<string, CelField>) {
    this.#json = json;
    this.#fields = fields;
  }

  names(): readonly string[] {
    return [...this.#fields.keys()].filter((name) => this.member(name) !== undefined);
  }

  /** Undefined for missing members; null counts as missing. */
  member(name: string): CelValue | undefined {
    if (!this.#read.has(name)) this.#read.set(name, this.#member(name));
    return this.#read.get(name);
  }

  #member(name: string): CelValue | undefined {
    const field = this.#fields.get(name);
    const json = field && memberOf(this.#json, field.property);
    return !field || json === undefined || json === null ? undefined : fromJson(json, field.schema, field.type);
  }
}

/** A document's value by its schema. An invalid time is reported when it is used. */
export function fromJson(json: JsonValue, schema: StructuralSchema, type = getDeclaredType(schema)): CelValue {
  if (json === null || typeof json === "boolean") return json;
  if (typeof json === "number") return type?.name !== "double" && Number.isInteger(json) ? BigInt(json) : json;
  if (typeof json === "string") return fromText(json, type);
  if (isJsonArray(json)) return fromList(json, schema);
  return fromObject(json, schema, type);
}

function fromText(text: string, type: CelType | undefined): CelValue {
  switch (type?.name ?? "string") {
    case "timestamp":
      return parseTimestamp(text.includes("T") ? text : `${text}T00:00:00Z`) ?? new CelError("invalid date");
    case "duration":
      return parseDuration(text) ?? new CelError("invalid duration");
    case "bytes":
      return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
    default:
      return text;
  }
}

function fromList(json: readonly JsonValue[], schema: StructuralSchema): CelList {
  const items = json.map((item) => fromJson(item, schema.items ?? {}));
  const isSet = schema["x-kubernetes-list-type"] === "set";
  const isMap = schema["x-kubernetes-list-type"] === "map";
  return new CelList(items, { isSet, keys: isMap ? (schema["x-kubernetes-list-map-keys"] ?? []) : [] });
}

function fromObject(json: JsonObject, schema: StructuralSchema, type: CelType | undefined): CelValue {
  if (type?.fields) return new CelObject(json, type.fields);
  const of = additionalOf(schema) ?? {};
  const entries = Object.entries(json).filter(([, value]) => value !== null);
  return new CelMap(new Map(entries.map(([name, value]) => [name, fromJson(value, of)])));
}

/** A whole resource, with its kind and name. */
export function fromResource(json: JsonValue, schema: StructuralSchema, isRoot: boolean): CelValue {
  const type = getDeclaredType(schema, isRoot);
  return isJsonObject(json) && type?.fields ? new CelObject(json, type.fields) : fromJson(json, schema, type);
}

/** The name of a value's type, as returned by `type()` and used to select overloads. */
export function getTypeName(value: CelValue): string {
  if (value === null) return "null_type";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Uint) return "uint";
  if (value instanceof Timestamp) return "timestamp";
  if (value instanceof Duration) return "duration";
  if (value instanceof Amount) return "kubernetes.Quantity";
  if (value instanceof TypeName) return "type";
  if (value instanceof CelList) return "list";
  if (value instanceof CelMap) return "map";
  return value instanceof CelObject ? "object" : "error";
}

/** The number of a value of any numeric type. */
export function toNumber(value: CelValue): bigint | number | undefined {
  if (value instanceof Uint) return value.value;
  return typeof value === "bigint" || typeof value === "number" ? value : undefined;
}

/** A value as a map key; undefined for invalid keys. */
export function toMapKey(value: CelValue): bigint | string | boolean | number | undefined {
  if (typeof value === "string" || typeof value === "boolean") return value;
  const number = toNumber(value);
  return typeof number === "number" && Number.isInteger(number) ? BigInt(number) : number;
}

export function equalValues(a: CelValue, b: CelValue): boolean {
  const [left, right] = [toNumber(a), toNumber(b)];
  if (left !== undefined && right !== undefined) return equalNumbers(left, right);
  if (a instanceof CelList && b instanceof CelList) return equalLists(a, b);
  if (a instanceof CelMap && b instanceof CelMap) {
    return (
      a.entries.size === b.entries.size &&
      [...a.entries].every(([key, value]) => {
        const other = b.entries.get(key);
        return other !== undefined && equalValues(value, other);
      })
    );
  }
  if (a instanceof CelObject && b instanceof CelObject) {
    const names = a.names();
    return (
      names.length === b.names().length &&
      names.every((name) => {
        const [one, other] = [a.member(name), b.member(name)];
        return one !== undefined && other !== undefined && equalValues(one, other);
      })
    );
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return a.length === b.length && a.every((byte, index) => byte === b[index]);
  }
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos === b.nanos;
  if (a instanceof Duration && b instanceof Duration) return a.nanos === b.nanos;
  if (a instanceof Amount && b instanceof Amount) return a.quantity.nano === b.quantity.nano;
  if (a instanceof TypeName && b instanceof TypeName) return a.name === b.name;
  return a === b;
}

/** Only loose comparison distinguishes 1n == 1 from 1n == 1.5 without losing digits. */
function equalNumbers(a: bigint | number, b: bigint | number): boolean {
  return !(a < b) && !(a > b) && !Number.isNaN(a) && !Number.isNaN(b);
}

function equalLists(a: CelList, b: CelList): boolean {
  if (a.items.length !== b.items.length) return false;
  const { isSet, keys } = a.isSet || a.keys.length > 0 ? a : b;
  if (!isSet && keys.length === 0) return a.items.every((item, index) => equalValues(item, b.items[index] ?? null));
  return a.items.every((item) => b.items.some((other) => equalValues(item, other)));
}

/** Concatenated lists: keyed lists and sets keep each item once. */
export function concatLists(a: CelList, b: CelList): CelList {
  if (a.keys.length === 0 && !a.isSet) return new CelList([...a.items, ...b.items]);
  const isSame = (one: CelValue, other: CelValue): boolean =>
    a.isSet ? equalValues(one, other) : a.keys.every((key) => hasEqualMember(one, other, key));
  const merged = a.items.map((item) => b.items.find((other) => isSame(item, other)) ?? item);
  const added = b.items.filter((item) => !a.items.some((other) => isSame(item, other)));
  return new CelList([...merged, ...added], a);
}

function hasEqualMember(one: CelValue, other: CelValue, name: string): boolean {
  if (!(one instanceof CelObject) || !(other instanceof CelObject)) return false;
  const [a, b] = [one.member(name), other.member(name)];
  return a === undefined || b === undefined ? a === b : equalValues(a, b);
}
