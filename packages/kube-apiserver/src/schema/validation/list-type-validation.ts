import { canonicalJson } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, memberOf } from "@oaas/kube-core";
import { duplicateField, invalidField, type FieldError } from "../field-error.ts";
import { memberSchema, type StructuralSchema } from "../structural-schema.ts";

/** Duplicates in lists: values in sets, keys in map lists. Each is reported once. */
export function validateListType(value: unknown, schema: StructuralSchema, field = ""): readonly FieldError[] {
  return validateValue(value as JsonValue, schema, field);
}

function validateValue(value: JsonValue, schema: StructuralSchema | undefined, field: string): readonly FieldError[] {
  if (schema === undefined) return [];
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      validateValue(member, memberSchema(schema, name), formatItemPath(schema, field, name)),
    );
  }
  if (!isJsonArray(value)) return [];
  return [
    ...validateSelf(value, schema, field),
    ...value.flatMap((item, index) => validateValue(item, schema.items, `${field}[${index}]`)),
  ];
}

/** Unlike elsewhere, the server puts undeclared names in brackets here. */
function formatItemPath(schema: StructuralSchema, field: string, name: string): string {
  const isDeclared = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
  if (!isDeclared) return `${field}[${name}]`;
  return field === "" ? name : `${field}.${name}`;
}

function validateSelf(items: readonly JsonValue[], schema: StructuralSchema, field: string): readonly FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "set") return findDuplicates(items, field);
  if (listType !== "map") return [];
  const typeErrors = items.flatMap((item, index) =>
    isJsonObject(item)
      ? []
      : [invalidField(`${field}[${index}]`, item, "must be an object for an array of list-type map")],
  );
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return typeErrors.length > 0
    ? typeErrors
    : findDuplicates(
        items.map((item) => getKeys(item as JsonObject, keys)),
        field,
      );
}

/** The key members of an item in a map list; a missing one is a key too. */
function getKeys(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key): [string, JsonValue][] => {
      const value = memberOf(item, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function findDuplicates(values: readonly JsonValue[], field: string): readonly FieldError[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const text = canonicalJson(value);
    const before = seen.get(text) ?? 0;
    seen.set(text, before + 1);
    return before === 1 ? [duplicateField(`${field}[${index}]`, value)] : [];
  });
}
