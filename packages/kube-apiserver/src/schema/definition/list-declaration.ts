import { forbiddenField, invalidField, requiredField, unsupportedField, type FieldError } from "../field-error.ts";
import { propertyOf, type StructuralSchema } from "../structural-schema.ts";

type Errors = readonly FieldError[];

const LIST_TYPES: readonly string[] = ["atomic", "set", "map"];
const MAP_TYPES: readonly string[] = ["atomic", "granular"];

/** Violations in list and map declarations of a schema, with the server's messages. */
export function validateListDeclaration(schema: StructuralSchema, field: string): Errors {
  return [...validateMapType(schema, field), ...validateListType(schema, field), ...validateKeys(schema, field)];
}

function validateMapType({ type, "x-kubernetes-map-type": mapType }: StructuralSchema, field: string): Errors {
  if (mapType === undefined) return [];
  if (type !== "object") {
    return [invalidField(`${field}.type`, type ?? "", "must be object if x-kubernetes-map-type is specified")];
  }
  return MAP_TYPES.includes(mapType) ? [] : [unsupportedField(`${field}.x-kubernetes-map-type`, mapType, MAP_TYPES)];
}

function validateListType(schema: StructuralSchema, field: string): Errors {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === undefined) return [];
  if (schema.type !== "array") {
    const detail = "must be array if x-kubernetes-list-type is specified";
    return [invalidField(`${field}.type`, schema.type ?? "", detail)];
  }
  if (!LIST_TYPES.includes(listType)) {
    return [unsupportedField(`${field}.x-kubernetes-list-type`, listType, LIST_TYPES)];
  }
  const mapType = schema.items?.["x-kubernetes-map-type"];
  if (listType === "set" && schema.items?.type === "object" && mapType !== "atomic") {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    return [invalidField(`${field}.items.x-kubernetes-map-type`, mapType ?? null, detail)];
  }
  return [];
}

function validateKeys(schema: StructuralSchema, field: string): Errors {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const isMap = schema["x-kubernetes-list-type"] === "map";
  const at = `${field}.x-kubernetes-list-map-keys`;
  if (!isMap) {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    return keys.length === 0 ? [] : [requiredField(`${field}.x-kubernetes-list-type`, detail)];
  }
  if (keys.length === 0) return [requiredField(at, "must not be empty if x-kubernetes-list-type is map")];
  const { items } = schema;
  if (items === undefined) return [];
  if (keys.some((key) => propertyOf(items, key) === undefined)) {
    return [invalidField(at, keys, "entries must all be names of item properties")];
  }
  if (new Set(keys).size < keys.length) return [invalidField(at, keys, "must not contain duplicate entries")];
  return keys.flatMap((key) => validateKey(items, key, `${field}.items.properties[${key}]`));
}

function validateKey(items: StructuralSchema, key: string, at: string): Errors {
  const { type = "", nullable, default: fallback } = propertyOf(items, key) ?? {};
  const found: FieldError[] = [];
  if (type === "object" || type === "array") {
    const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    found.push(invalidField(`${at}.type`, type, detail));
  }
  const because = "this property is in x-kubernetes-list-map-keys, so it";
  if (fallback === undefined && !(items.required ?? []).includes(key)) {
    found.push(requiredField(`${at}.default`, `${because} must have a default or be a required property`));
  }
  if (nullable === true) found.push(forbiddenField(`${at}.nullable`, `${because} cannot be nullable`));
  return found;
}
