import { additionalOf, type StructuralSchema } from "../../schema/structural-schema.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  type CelField,
  type CelType,
} from "./types.ts";

/** Keywords of the language; a property of that name is escaped with underscores. */
const KEYWORDS = new Set(["true", "false", "null", "in"]);
/** Reserved words of the language; a property of that name is reachable in both ways. */
const RESERVED = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

const cachedTypes = new WeakMap<StructuralSchema, CelType | undefined>();

/** The type of a schema in expressions, or undefined when expressions cannot see it. */
export function getDeclaredType(schema: StructuralSchema, isRoot = false): CelType | undefined {
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  if (isResource) return createObjectType(schema, addResourceFields(schema));
  if (!cachedTypes.has(schema)) cachedTypes.set(schema, createType(schema));
  return cachedTypes.get(schema);
}

function createType(schema: StructuralSchema): CelType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return DYN;
  switch (schema.type) {
    case "boolean":
      return BOOL;
    case "integer":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return getStringType(schema.format);
    case "array": {
      const item = schema.items && getDeclaredType(schema.items);
      return item && listOf(item);
    }
    case "object":
      return createMapType(schema);
    case undefined:
    default:
      return undefined;
  }
}

function getStringType(format: string | undefined): CelType {
  if (format === "byte") return BYTES;
  if (format === "duration") return DURATION;
  return format === "date" || format === "date-time" ? TIMESTAMP : STRING;
}

function createMapType(schema: StructuralSchema): CelType | undefined {
  const additional = additionalOf(schema);
  if (additional === undefined) return createObjectType(schema, schema.properties ?? {});
  const value = getDeclaredType(additional);
  return value && mapOf(STRING, value);
}

const objects = new WeakMap<StructuralSchema, CelType>();

function createObjectType(schema: StructuralSchema, properties: Readonly<Record<string, StructuralSchema>>): CelType {
  const cached = objects.get(schema);
  if (cached) return cached;
  const fields = new Map<string, CelField>();
  for (const [property, of] of Object.entries(properties)) {
    const type = getDeclaredType(of);
    for (const name of type ? listFieldNames(property) : [])
      fields.set(name, { property, type: type ?? DYN, schema: of });
  }
  const type = { name: "object", fields };
  objects.set(schema, type);
  return type;
}

const TEXT: StructuralSchema = { type: "string" };
const NAME_ONLY: StructuralSchema = { type: "object", properties: { name: TEXT, generateName: TEXT } };

/** Every resource has its kind and name, even when its schema does not declare them. */
function addResourceFields({ properties = {} }: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  return { ...properties, apiVersion: TEXT, kind: TEXT, metadata: NAME_ONLY };
}

/** The names of a property in expressions; none when no expression can name it. */
function listFieldNames(property: string): readonly string[] {
  if (KEYWORDS.has(property)) return [`__${property}__`];
  if (RESERVED.has(property)) return [property, `__${property}__`];
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(property)) return [];
  const escaped = property
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return [escaped];
}
