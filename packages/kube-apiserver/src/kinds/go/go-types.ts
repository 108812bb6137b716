import { err, ok, type Result } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { objectAt } from "../json-access.ts";
import { KIND_DATA, type GoMark } from "../built-in/kind-data.ts";
import { reportTypeError, type GoPlace, type GoType } from "./go-type.ts";
import { anything, bytes, flag, float, integer, intOrString, quantity, text, time } from "./scalars.ts";

/** Types with custom encoding. */
const CUSTOM_TYPES: Readonly<Record<string, GoType>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": quantity,
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": intOrString,
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": time(false),
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": time(true),
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": anything,
  "io.k8s.apimachinery.pkg.runtime.RawExtension": anything,
};

const types = new Map<string, GoType>();

/** The Go type of this OpenAPI name; created on first use. */
export function getGoType(name: string): GoType {
  const cached = types.get(name) ?? CUSTOM_TYPES[name];
  if (cached !== undefined) return cached;
  const schema = KIND_DATA.schemas[name] ?? {};
  const created = isJsonObject(schema["properties"]) ? createStruct(name, schema["properties"]) : anything;
  types.set(name, created);
  return created;
}

interface Field {
  readonly name: string;
  readonly type: GoType;
  /** Written when the field is absent; undefined: nothing. */
  readonly absent: JsonValue | undefined;
  /** Whether a zero is written. */
  readonly keepsZero: boolean;
  /** Whether an empty list or map is written as null. */
  readonly isNullWhenEmpty: boolean;
}

function createStruct(openApiName: string, properties: JsonObject): GoType {
  const shortName = openApiName.split(".").at(-1) ?? "";
  const version = openApiName.split(".").at(-2) ?? "";
  let fields: readonly Field[] | undefined;
  const name = `${version}.${shortName}`;
  const type: GoType = {
    name,
    // A pointer to an empty struct is written, and so is a struct; only the parent knows.
    isZero: () => false,
    get zero() {
      return type.read({}, { struct: "", path: "", decodeError: {} });
    },
    read(value, at) {
      if (!isJsonObject(value)) {
        reportTypeError(value, at, name);
        return {};
      }
      fields ??= createFields(openApiName, properties);
      return encodeFields(value, fields, shortName, at);
    },
  };
  return type;
}

function encodeFields(object: JsonObject, fields: readonly Field[], struct: string, at: GoPlace): JsonObject {
  const members: Record<string, JsonValue> = {};
  for (const field of fields) {
    const input = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    const value = input === undefined || input === null ? field.absent : encodeField(input, field, struct, at);
    if (value !== undefined) members[field.name] = value;
  }
  return members;
}

function encodeField(input: JsonValue, field: Field, struct: string, at: GoPlace): JsonValue | undefined {
  const path = at.path === "" ? field.name : `${at.path}.${field.name}`;
  const value = field.type.read(input, { struct, path, decodeError: at.decodeError });
  if (!field.type.isZero(value)) return value;
  if (field.isNullWhenEmpty) return null;
  return field.keepsZero ? value : undefined;
}

function createFields(openApiName: string, properties: JsonObject): readonly Field[] {
  const marks = KIND_DATA.goMarks[openApiName] ?? {};
  const names = KIND_DATA.goNames[openApiName] ?? {};
  return Object.entries(properties).flatMap(([name, schema]) =>
    isJsonObject(schema) ? [createField(name, schema, marks[name], names[name])] : [],
  );
}

function createField(name: string, schema: JsonObject, mark: GoMark | undefined, goName: string | undefined): Field {
  const type = createType(schema, goName);
  // A zero default in OpenAPI means that Go always writes the field: neither a pointer nor omitempty.
  const zero = schema["default"];
  const isAlwaysWritten = mark !== "omit" && mark !== "keep" && (zero === "" || zero === 0 || zero === false);
  const isStruct = isJsonObject(zero) && Object.keys(zero).length === 0 && mark !== "drop";
  const isNull = mark === "null";
  return {
    name,
    type,
    get absent() {
      if (isNull) return null;
      if (mark === "value" || isStruct) return type.zero;
      return isAlwaysWritten ? zero : undefined;
    },
    keepsZero: mark === "keep" || isAlwaysWritten || isNull || mark === "value",
    isNullWhenEmpty: isNull && (schema["type"] === "array" || schema["type"] === "object"),
  };
}

function createType(schema: JsonObject, goName?: string): GoType {
  const reference = getReference(schema);
  if (reference !== undefined) return getGoType(reference);
  const format = schema["format"];
  const { type } = schema;
  switch (typeof type === "string" ? type : "") {
    case "string":
      return format === "byte" ? bytes : text(goName);
    case "integer":
      return integer(format === "int64" ? "int64" : "int32");
    case "number":
      return float;
    case "boolean":
      return flag;
    case "array":
      return createList(createType(objectAt(schema, "items"), goName));
    case "object":
      return isJsonObject(schema["additionalProperties"])
        ? createMap(createType(schema["additionalProperties"]))
        : anything;
    default:
      return anything;
  }
}

function createList(item: GoType): GoType {
  const name = `[]${item.name}`;
  return {
    name,
    zero: [],
    isZero: (value) => isJsonArray(value) && value.length === 0,
    read(value, at) {
      if (isJsonArray(value)) return value.map((each) => (each === null ? item.zero : item.read(each, at)));
      reportTypeError(value, at, name);
      return [];
    },
  };
}

function createMap(item: GoType): GoType {
  const name = `map[string]${item.name}`;
  return {
    name,
    zero: {},
    isZero: (value) => isJsonObject(value) && Object.keys(value).length === 0,
    read(value, at) {
      if (!isJsonObject(value)) {
        reportTypeError(value, at, name);
        return {};
      }
      const members = Object.entries(value).map(([key, each]) => [
        key,
        each === null ? item.zero : item.read(each, at),
      ]);
      return Object.fromEntries(members) as JsonObject;
    },
  };
}

const REFERENCE = "#/components/schemas/";

/** The type name a schema refers to, directly or as the only part of allOf. */
export function getReference(schema: JsonObject): string | undefined {
  const only = isJsonArray(schema["allOf"]) ? schema["allOf"][0] : schema;
  const reference = isJsonObject(only) ? only["$ref"] : undefined;
  return typeof reference === "string" ? reference.slice(REFERENCE.length) : undefined;
}

/** The type of a schema: its own, or that of list items or map values. */
export function getElementType(schema: JsonObject): string | undefined {
  const inner = schema["items"] ?? schema["additionalProperties"];
  return getReference(schema) ?? (isJsonObject(inner) ? getElementType(inner) : undefined);
}

/**
 * Decodes a body as Go's types do and encodes it again: unknown fields, nulls, and omitted zeros and empty lists are
 * dropped; always-written fields are added; quantities, times and base64 are normalized. Err: the decoder's message for
 * the first value of a wrong type.
 */
export function decodeAsGo(object: JsonObject, openApiName: string): Result<JsonObject, string> {
  const decodeError: { text?: string } = {};
  const value = getGoType(openApiName).read(object, { struct: "", path: "", decodeError });
  if (decodeError.text !== undefined) return err(decodeError.text);
  return ok(isJsonObject(value) ? value : {});
}
