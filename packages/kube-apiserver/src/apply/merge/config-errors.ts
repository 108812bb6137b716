import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { formatGoValue } from "../../go-format.ts";
import { allowsAdditional, type StructuralSchema } from "../../schema/structural-schema.ts";
import {
  getDeclaredSchema,
  getItemElement,
  getMemberSchema,
  getMergeShape,
  type MaybeSchema,
  type MergeShape,
  addCommonFields,
} from "./merge-shape.ts";
import { formatElement, memberElement } from "../fields/path-element.ts";

/**
 * Errors that prevent a configuration from being applied: undeclared fields, values of another type, duplicate list
 * items. One line per error with its path, with the server's messages.
 */
export function validateConfiguration(config: JsonValue, schema: MaybeSchema): readonly string[] {
  return validateValue(config, schema, "");
}

function validateValue(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  if (value === null) return [];
  const shape = getMergeShape(schema, value);
  if (shape.kind === "map") return validateMap(value, schema, path);
  if (shape.kind === "list") return validateList(value, shape, path);
  return validateLeaf(value, schema, path);
}

const formatError = (path: string, message: string): string => `${path}: ${message}`;

function validateMap(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  if (!isJsonObject(value)) return [formatError(path, `expected map, got &{${formatGoValue(value)}}`)];
  return Object.entries(value).flatMap(([name, member]) => {
    const inside = `${path}${formatElement(memberElement(name))}`;
    if (!isDeclared(schema, name)) return [formatError(inside, "field not declared in schema")];
    return validateValue(member, getMemberSchema(schema, name), inside);
  });
}

function isDeclared(schema: MaybeSchema, name: string): boolean {
  if (schema === undefined || schema.type === undefined) return true;
  return (
    getDeclaredSchema(schema, name) !== undefined ||
    allowsAdditional(schema) ||
    schema["x-kubernetes-preserve-unknown-fields"] === true
  );
}

function validateList(
  value: JsonValue,
  shape: Extract<MergeShape, { readonly kind: "list" }>,
  path: string,
): readonly string[] {
  if (!isJsonArray(value)) return [formatError(path, `expected list, got &{${formatGoValue(value)}}`)];
  const seen = new Set<string>();
  return value.flatMap((item, index) => {
    const element = getItemElement(shape, item);
    if (element === undefined) return [formatError(path, `element ${index}: ${formatMissingKeys(item, shape.keys)}`)];
    const isRepeated = seen.has(element);
    seen.add(element);
    const repeated = isRepeated ? [formatError(path, `duplicate entries for key ${formatElement(element)}`)] : [];
    return [...repeated, ...validateValue(item, shape.items, `${path}${formatElement(element)}`)];
  });
}

function formatMissingKeys(item: JsonValue, keys: readonly string[]): string {
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  const names = keys.map((key) => JSON.stringify(key)).join(" ");
  const reason = "(and doesn't have default values for any key fields)";
  return `associative list with keys has an element that omits all key fields [${names}] ${reason}`;
}

const NUMERIC = "numeric (int or float)";

const SCALARS: Readonly<Record<string, { readonly is: string; readonly name: string }>> = {
  string: { is: "string", name: "string" },
  boolean: { is: "boolean", name: "boolean" },
  integer: { is: "number", name: NUMERIC },
  number: { is: "number", name: NUMERIC },
};

function validateLeaf(value: JsonValue, schema: MaybeSchema, path: string): readonly string[] {
  const scalar = SCALARS[schema?.type ?? ""];
  if (scalar === undefined || typeof value === scalar.is) return [];
  const got = scalar.name === NUMERIC ? getGoType(value) : `&value.valueUnstructured{Value:${JSON.stringify(value)}}`;
  return [formatError(path, `expected ${scalar.name}, got ${got}`)];
}

/** Go's name for the type of a non-numeric value. */
function getGoType(value: JsonValue): string {
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Whether a schema declares all fields of an object. */
export function matchesSchema(object: JsonObject, schema: StructuralSchema): boolean {
  return validateConfiguration(object, addCommonFields(schema)).length === 0;
}
