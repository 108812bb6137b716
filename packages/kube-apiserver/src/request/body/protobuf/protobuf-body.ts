import { err, ok, type Result } from "@oaas/foundation";
import { type JsonObject, type JsonValue, parseApiVersion } from "@oaas/kube-core";
import data from "../../../gen/protobuf.json" with { type: "json" };
import { SPECIAL } from "./special-messages.ts";
import { WireError, readFields } from "./wire.ts";

/** The prefix of protobuf bodies. */
const MAGIC = "k8s\0";
const META = "k8s.io.apimachinery.pkg.apis.meta.v1";

interface Field {
  /** `-` when the members of its message are inlined. */
  readonly name: string;
  readonly type: string;
  readonly form: "one" | "many" | "map";
}

type Message = ReadonlyMap<number, Field>;

const SOURCES = data.messages as Readonly<Record<string, readonly string[]>>;
const PACKAGES = data.packages as Readonly<Record<string, string>>;
const messages = new Map<string, Message>();

/** Decodes a protobuf object of a built-in kind into JSON. The body has one character per byte. */
export function decodeProtobuf(body: string): Result<JsonObject, string> {
  const bytes = Buffer.from(body, "latin1");
  if (bytes.subarray(0, MAGIC.length).toString("latin1") !== MAGIC) {
    return err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  try {
    return decodeEnvelope(bytes.subarray(MAGIC.length));
  } catch (error) {
    if (error instanceof WireError || error instanceof SyntaxError) return err(error.message);
    throw error;
  }
}

/** A message with its type: `runtime.Unknown`. */
function decodeEnvelope(bytes: Uint8Array): Result<JsonObject, string> {
  const budget = new Budget();
  const parts = new Map<number, Uint8Array>();
  for (const { number, value } of readFields(bytes)) {
    budget.spend();
    if (value instanceof Uint8Array) parts.set(number, value);
  }
  const type = new Map<number, string>();
  for (const { number, value } of readFields(parts.get(1) ?? new Uint8Array())) {
    if (value instanceof Uint8Array) type.set(number, decodeText(value));
  }
  const [apiVersion = "", kind = ""] = [type.get(1), type.get(2)];
  const name = findMessageName(apiVersion, kind);
  if (name === undefined)
    return err(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  const object = decodeMessage(name, parts.get(2) ?? new Uint8Array(), budget) as JsonObject;
  return ok({ kind, apiVersion, ...object });
}

function findMessageName(apiVersion: string, kind: string): string | undefined {
  const parsed = parseApiVersion(apiVersion);
  if (!parsed.ok) return undefined;
  const own = PACKAGES[`${parsed.value.group}/${parsed.value.version}`];
  // Request options belong to every group.
  return [`${own}.${kind}`, `${META}.${kind}`].find((name) => Object.hasOwn(SOURCES, name));
}

function getMessage(name: string): Message {
  const cached = messages.get(name);
  if (cached !== undefined) return cached;
  const message: Message = new Map((SOURCES[name] ?? []).map(parseField));
  messages.set(name, message);
  return message;
}

function parseField(text: string): [number, Field] {
  const [number = "", name = "", type = ""] = text.split(" ");
  if (type.startsWith("[]")) return [Number(number), { name, type: type.slice(2), form: "many" }];
  if (type.startsWith("map:")) return [Number(number), { name, type: type.slice(4), form: "map" }];
  return [Number(number), { name, type, form: "one" }];
}

/** The values that a body may have; two bytes can become an object. */
class Budget {
  #left = 200_000;

  spend(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new WireError("the body has more than 200000 values");
  }
}

function decodeMessage(name: string, bytes: Uint8Array, budget: Budget): JsonValue {
  const message = getMessage(name);
  const object: Record<string, JsonValue> = {};
  for (const { number, value } of readFields(bytes)) {
    budget.spend();
    const field = message.get(number);
    if (field !== undefined) setField(object, field, value, budget);
  }
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
  if (special !== undefined) return special(object);
  // A named list type is a message around its items.
  const isList = message.size === 1 && message.get(1)?.name === "items" && message.get(1)?.form === "many";
  return isList ? (object["items"] ?? []) : object;
}

function setField(
  object: Record<string, JsonValue>,
  { name, type, form }: Field,
  value: bigint | Uint8Array,
  budget: Budget,
): void {
  if (form === "many") {
    const items = (object[name] ??= []) as JsonValue[];
    for (const item of decodeRepeated(type, value, budget)) items.push(item);
  } else if (form === "map") {
    const [key, member] = decodeMapEntry(type, value, budget);
    setMember((object[name] ??= {}) as Record<string, JsonValue>, key, member);
  } else if (name === "-" && Object.hasOwn(SOURCES, type)) {
    Object.assign(object, decodeMessage(type, value as Uint8Array, budget));
  } else {
    object[name] = decodeValue(type, value, budget);
  }
}

/** Assignment would change the prototype for one name. */
function setMember(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}

/** Numbers may be packed; everything else is single. */
function decodeRepeated(type: string, value: bigint | Uint8Array, budget: Budget): readonly JsonValue[] {
  const isPacked = value instanceof Uint8Array && (type === "int32" || type === "int64" || type === "bool");
  if (!isPacked) return [decodeValue(type, value, budget)];
  // Packed numbers look like alternating tags; each is decoded separately.
  const numbers: JsonValue[] = [];
  let current = 0n;
  let shift = 0n;
  for (const byte of value) {
    current |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (shift > MAX_VARINT_BITS) throw new WireError("proto: integer overflow");
    if (byte >= 0x80) continue;
    budget.spend();
    numbers.push(decodeValue(type, BigInt.asIntN(64, current), budget));
    [current, shift] = [0n, 0n];
  }
  return numbers;
}

/** Ten bytes of seven bits. */
const MAX_VARINT_BITS = 70n;

function decodeMapEntry(type: string, value: bigint | Uint8Array, budget: Budget): [key: string, member: JsonValue] {
  let [key, member]: [string, JsonValue] = ["", decodeValue(type, new Uint8Array(), budget)];
  for (const part of readFields(value as Uint8Array)) {
    if (part.number === 1) key = decodeText(part.value as Uint8Array);
    else if (part.number === 2) member = decodeValue(type, part.value, budget);
  }
  return [key, member];
}

function decodeValue(type: string, value: bigint | Uint8Array, budget: Budget): JsonValue {
  if (typeof value === "bigint") return type === "bool" ? value !== 0n : Number(value);
  switch (type) {
    case "string":
      return decodeText(value);
    case "bytes":
      return Buffer.from(value).toString("base64");
    case "double":
      return Buffer.from(value).readDoubleLE();
    default:
      return decodeMessage(type, value, budget);
  }
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
